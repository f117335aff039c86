module runningshapes

go 1.20
