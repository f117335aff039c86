module avrobytes

go 1.26
