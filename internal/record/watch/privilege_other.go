//go:build !linux

package watch

import "io/fs"

func hasCapabilities(string) bool { return false }

func ownerOf(fs.FileInfo) uint32 { return 0 }
