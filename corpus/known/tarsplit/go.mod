module tarsplit

go 1.26
