//go:build !unix

package faultprofile

import "io/fs"

func fileID(info fs.FileInfo) string { return info.Name() }
