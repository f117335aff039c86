module smithylru

go 1.26
