//go:build !linux

package procfs

import "os"

func readDirect(int, []byte, int64) bool { return false }

func readSmall(*os.File, []byte, int64) bool { return false }
