//go:build purego

package main

import (
	"net/url"

	_ "modernc.org/sqlite" // SQLite translated to Go, with a memory of its own
)

const driver = "sqlite"

func source(path string) string {
	return "file:" + (&url.URL{Path: path}).EscapedPath() +
		"?_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)&_pragma=busy_timeout(30000)&_txlock=immediate"
}
