module rardict

go 1.26
