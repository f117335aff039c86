module spin

go 1.20
