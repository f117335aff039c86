module jsonitdepth

go 1.26
