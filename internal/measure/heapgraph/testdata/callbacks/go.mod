module example.com/callbacks

go 1.20

require example.net/bus v0.0.0

replace example.net/bus => ./bus
