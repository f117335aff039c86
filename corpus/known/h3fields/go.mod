module h3fields

go 1.26
