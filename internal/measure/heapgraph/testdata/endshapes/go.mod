module endshapes

go 1.20
