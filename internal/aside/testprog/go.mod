module testprog

go 1.24
