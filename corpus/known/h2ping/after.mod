module h2ping

go 1.26

require golang.org/x/net v0.0.0-20190813141303-74dc4d7220e7

require golang.org/x/text v0.3.0 // indirect
