module gometers

go 1.26
