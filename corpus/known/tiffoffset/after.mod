module tiffoffset

go 1.26

require golang.org/x/image v0.38.0
