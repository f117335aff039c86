//go:build !unix

package container

func ownerOf(string) (uid int, ok bool) { return 0, false }
