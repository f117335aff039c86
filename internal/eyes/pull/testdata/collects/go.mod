module collects

go 1.20
