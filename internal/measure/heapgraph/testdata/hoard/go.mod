module hoard

go 1.20
