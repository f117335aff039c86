module leaks

go 1.20
