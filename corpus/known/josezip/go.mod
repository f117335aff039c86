module josezip

go 1.26
