module resident

go 1.20
