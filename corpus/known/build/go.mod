module build

go 1.26
