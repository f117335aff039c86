module samlbomb

go 1.26
