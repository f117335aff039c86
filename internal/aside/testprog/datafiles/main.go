//go:build unix

// Datafiles is a program with a small heap whose memory is that of files: 25 files in tmpfs, one that is mapped, or one
// that was written and closed.
package main

import (
	_ "embed"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"testprog/truth"
)

//go:embed main.go
var source string

const block = 1 << 20

// tmpfs writes files and closes them: they are memory until they are deleted.
func tmpfs(dir string, mib int) error {
	for i := range 25 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%02d.tmp", i)), full(mib*block/25), 0o600); err != nil { // truth: written
			return err
		}
	}
	return nil
}

// closed writes a file and closes it.
func closed(dir string, mib int) error {
	f, err := os.Create(filepath.Join(dir, "events.log"))
	for i := 0; i < mib && err == nil; i++ {
		_, err = f.Write(full(block))
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// mapped writes a file by way of memory.
func mapped(dir string, mib int) error {
	f, err := os.Create(filepath.Join(dir, "state.db"))
	if err != nil {
		return err
	}
	if err := f.Truncate(int64(mib) * block); err != nil {
		return err
	}
	m, err := syscall.Mmap(int(f.Fd()), 0, mib*block, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return err
	}
	for i := 0; i < len(m); i += 4096 {
		m[i] = 1
	}
	return nil
}

func full(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = 1
	}
	return b
}

func main() {
	mode := flag.String("mode", "tmpfs", "tmpfs, closed or mapped")
	dir := flag.String("dir", "", "a directory, which is made and removed")
	mib := flag.Int("mib", 50, "MiB of files")
	rest := flag.Duration("rest", time.Second, "time it lives on")
	tell := flag.Bool("truth", false, "print what is true of this program and end")
	flag.Parse()
	if *tell {
		t := truth.Truth{Program: "datafiles", Class: "shmem", ClassUnlimited: "shmem"}
		t.Mark(source, "written")
		t.Print()
	}
	err := os.MkdirAll(*dir, 0o700)
	if err == nil {
		err = map[string]func(string, int) error{"tmpfs": tmpfs, "closed": closed, "mapped": mapped}[*mode](*dir, *mib)
	}
	time.Sleep(*rest)
	os.RemoveAll(*dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, "datafiles:", err)
		os.Exit(1)
	}
}
