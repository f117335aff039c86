module lists

go 1.20
