module natsqueue

go 1.26
