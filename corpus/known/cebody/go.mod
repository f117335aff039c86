module cebody

go 1.26
