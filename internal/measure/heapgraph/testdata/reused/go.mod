module reused

go 1.20
