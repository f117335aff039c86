module tiffoffset

go 1.26
