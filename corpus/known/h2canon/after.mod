module h2canon

go 1.26

require golang.org/x/net v0.4.0

require golang.org/x/text v0.5.0 // indirect
