//go:build !linux

package watch

import "io/fs"

func fileOf(info fs.FileInfo) file { return file{changed: info.ModTime()} }
