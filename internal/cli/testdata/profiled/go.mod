module profiled

go 1.20
