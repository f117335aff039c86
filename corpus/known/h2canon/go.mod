module h2canon

go 1.26
