module gometers

go 1.26

require github.com/rcrowley/go-metrics v0.0.0-20161128210544-1f30fe9094a5
