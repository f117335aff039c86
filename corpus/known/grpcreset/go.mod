module grpcreset

go 1.26
