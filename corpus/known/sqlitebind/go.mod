module sqlitebind

go 1.26
