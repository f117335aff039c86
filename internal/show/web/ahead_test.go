package web

import (
	"os"
	"path/filepath"
	"testing"
)

func TestReadingAheadEndsWhereverItIsStopped(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "long-1.hwm")
	if err := os.WriteFile(path, make([]byte, 3*aheadPart+1), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		readAhead(path)()
	}
	readAhead(path + " is none")()
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	readAhead(path)()
}
