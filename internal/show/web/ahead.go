package web

import "os"

// aheadPart is how much of a file is asked for at once.
const aheadPart = 4 << 20

// readAhead has the system read a file from its beginning until stop is called. The
// rows that are picked from a long recording lie on thousands of pages, and a disk
// that is asked for one of them after the other takes three times as long as it takes
// for the whole. Of what is in memory already nothing is read.
func readAhead(path string) (stop func()) {
	f, err := os.Open(path)
	if err != nil {
		return func() {} // who needs the file will say so
	}
	ended, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		defer f.Close()
		var last [1]byte
		for at := int64(0); willNeed(f, at, aheadPart) == nil; at += aheadPart {
			// Waiting for the part before leaves room for those who read beside.
			if _, err := f.ReadAt(last[:], max(0, at-1)); err != nil {
				return
			}
			select {
			case <-ended:
				return
			default:
			}
		}
	}()
	return func() { close(ended); <-done }
}
