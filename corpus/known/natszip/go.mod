module natszip

go 1.26
