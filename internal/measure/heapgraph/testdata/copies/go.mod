module copies

go 1.20
