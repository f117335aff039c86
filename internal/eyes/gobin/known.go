package gobin

import (
	"os"
	"sync"
)

// A watcher of a hundred processes of one build opens its executable a hundred times. Where
// the runtime's variables lie is found out once for a file as long as it is not changed.

// knownGlobals is what was found of one file. Nothing of it is changed any more.
type knownGlobals struct {
	file    os.FileInfo
	buildID string
	module  uint64 // where its moduledata lies
	symbols map[string]uint64
	refused map[string]error
	foundBy string
}

// mostKnown bounds how many files are remembered: each takes some ten KiB.
const mostKnown = 64

// known are the files that were opened last, the newest last.
var known struct {
	mu    sync.Mutex
	files []knownGlobals
}

// recall takes over what was found before, and says whether there was anything.
func (b *Binary) recall() bool {
	known.mu.Lock()
	defer known.mu.Unlock()
	for i := range known.files {
		k := &known.files[i]
		if b.module != nil && k.module == b.module.addr && k.buildID == b.BuildID && isSame(k.file, b.file.info) {
			b.symbols, b.refused, b.FoundBy = k.symbols, k.refused, k.foundBy
			return true
		}
	}
	return false
}

// remember keeps what was found.
func (b *Binary) remember() {
	if b.file.info == nil || b.module == nil {
		return
	}
	known.mu.Lock()
	defer known.mu.Unlock()
	if len(known.files) == mostKnown {
		known.files = append(known.files[:0], known.files[1:]...)
	}
	known.files = append(known.files, knownGlobals{b.file.info, b.BuildID, b.module.addr, b.symbols, b.refused, b.FoundBy})
}

// isSame says whether two files are one that was not written to between.
func isSame(a, b os.FileInfo) bool {
	return a != nil && b != nil && os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}
