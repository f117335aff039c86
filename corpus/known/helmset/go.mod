module helmset

go 1.26
