module native

go 1.24
