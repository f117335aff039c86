module two

go 1.20
