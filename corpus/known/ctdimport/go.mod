module ctdimport

go 1.26
