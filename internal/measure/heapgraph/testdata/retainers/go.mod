module example.com/retainers

go 1.24
