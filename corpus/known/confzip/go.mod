module confzip

go 1.26
