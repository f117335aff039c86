package container

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestACommandLineThatDoesNotComeIsGivenUp(t *testing.T) {
	m, ids := machine(t)
	conmon(t, m, "10", 0)
	pipe := filepath.Join(m.Root, "proc/10/cmdline")
	if err := os.Remove(pipe); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if c, ok := m.Of("/docker/" + ids[1]); !ok || c.Name != "checkout" {
		t.Errorf("%v, %v", c, ok)
	}
	f, err := os.OpenFile(pipe, os.O_WRONLY, 0) // lets the reader go
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
}
