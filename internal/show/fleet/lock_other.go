//go:build !linux && !darwin

package fleet

import "os"

// lock is not there on this system, where no agent runs.
func lock(dir string) (*os.File, error) { return os.Open(dir) }
