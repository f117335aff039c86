module example.net/bus

go 1.20
