module gometers

go 1.26

require github.com/rcrowley/go-metrics v0.0.0-20181016184325-3113b8401b8a
