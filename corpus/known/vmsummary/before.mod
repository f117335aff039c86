module vmsummary

go 1.26

require github.com/VictoriaMetrics/metrics v1.12.0

require (
	github.com/valyala/fastrand v1.0.0 // indirect
	github.com/valyala/histogram v1.1.2 // indirect
)
