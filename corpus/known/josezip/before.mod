module josezip

go 1.26

require github.com/go-jose/go-jose/v4 v4.0.0

require golang.org/x/crypto v0.19.0 // indirect
