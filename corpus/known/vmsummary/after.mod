module vmsummary

go 1.26

require github.com/VictoriaMetrics/metrics v1.18.1

require (
	github.com/valyala/fastrand v1.1.0 // indirect
	github.com/valyala/histogram v1.2.0 // indirect
)
