module ages

go 1.20
