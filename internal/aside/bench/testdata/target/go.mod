module target

go 1.24
