module largemap

go 1.20
