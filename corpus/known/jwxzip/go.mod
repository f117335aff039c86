module jwxzip

go 1.26
