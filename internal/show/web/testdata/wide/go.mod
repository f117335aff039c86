module wide

go 1.20
