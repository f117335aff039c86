module regcatalog

go 1.26
