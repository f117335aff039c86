module stackshapes

go 1.20
