//go:build !purego

package main

import (
	"net/url"

	_ "github.com/mattn/go-sqlite3" // SQLite in C: its memory is not Go's
)

const driver = "sqlite3"

func source(path string) string {
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?_journal_mode=WAL&_synchronous=NORMAL&_busy_timeout=30000&_txlock=immediate"
}
