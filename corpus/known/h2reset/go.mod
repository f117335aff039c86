module h2reset

go 1.26
