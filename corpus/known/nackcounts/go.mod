module nackcounts

go 1.26
