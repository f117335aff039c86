module ristrettoclear

go 1.26

require github.com/dgraph-io/ristretto v0.1.2-0.20240723054643-f5997484152c

require (
	github.com/cespare/xxhash/v2 v2.2.0 // indirect
	github.com/dustin/go-humanize v1.0.1 // indirect
	github.com/pkg/errors v0.9.1 // indirect
	golang.org/x/sys v0.11.0 // indirect
)
