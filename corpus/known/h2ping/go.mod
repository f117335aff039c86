module h2ping

go 1.26
