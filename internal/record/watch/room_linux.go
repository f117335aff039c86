package watch

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/units"
)

// What a watcher may have to map, of private writable memory and of addresses in all: the runtime maps
// its heap in arenas of 64 MiB (runtime/malloc.go, heapArenaBytes), and all of one counts at once.
const (
	dataRoom    = 256 * sample.MiB
	addressRoom = 2 * sample.GiB
)

// RoomToMap is nil where this process may map what a watcher needs, else it names the limit. One that runs
// into such a limit later ends with a fatal error, and the entrypoint of a container takes its service with it.
func RoomToMap() error {
	for _, l := range []struct {
		what  int
		name  string
		least sample.Bytes
	}{{unix.RLIMIT_DATA, "data", dataRoom}, {unix.RLIMIT_AS, "addresses", addressRoom}} {
		var now unix.Rlimit
		if err := unix.Getrlimit(l.what, &now); err == nil && sample.Bytes(now.Cur) < l.least {
			return fmt.Errorf("it may map %s of %s, and highwater needs %s (ulimit)", units.Size(sample.Bytes(now.Cur)), l.name, units.Size(l.least))
		}
	}
	return nil
}
