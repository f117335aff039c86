module tiffbomb

go 1.26
