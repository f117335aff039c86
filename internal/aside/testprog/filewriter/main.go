// Filewriter is a program with a small heap that writes a large file: its
// cgroup's usage stands at the limit by page cache, which the kernel takes back
// when it needs it. Nothing is wrong with it, and it ends well.
package main

import (
	_ "embed"
	"flag"
	"fmt"
	"os"
	"runtime"
	"time"

	"testprog/truth"
)

//go:embed main.go
var source string

const block = 256 * truth.KiB

// load makes the small heap.
func load(n truth.Size) (kept [][]byte) {
	for ; n > 0; n -= 16 * truth.KiB {
		b := make([]byte, 16*truth.KiB) // truth: live
		truth.Touch(b)
		kept = append(kept, b)
	}
	return kept
}

// create makes a file without a name: it is gone when the program is, however
// it ends.
func create(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, "filewriter-*")
	if err != nil {
		return nil, err
	}
	return f, os.Remove(f.Name())
}

// write fills f up to size bytes.
func write(f *os.File, size truth.Size) error {
	b := make([]byte, block)
	for written := block; written <= size; written += block {
		truth.Touch(b)
		if _, err := f.Write(b); err != nil {
			return err
		}
		if written%(64*truth.MiB) == 0 {
			fmt.Println("written", written.Progress())
		}
	}
	return nil
}

func main() {
	size, live := truth.GiB, 8*truth.MiB
	flag.Var(&size, "size", "bytes written, in blocks of 256KiB")
	flag.Var(&live, "live", "bytes of heap, live all the time")
	dir := flag.String("dir", "", "where to write; empty: the system's folder for temporary files")
	rest := flag.Duration("rest", time.Second, "time it lives on after the last byte")
	tell := flag.Bool("truth", false, "print what is true of this program and end")
	flag.Parse()
	if *tell {
		t := truth.Truth{Program: "filewriter", Class: "page-cache", ClassUnlimited: "healthy"}
		t.LiveBytes, t.FloorBytes = int64(live), int64(live)
		t.Mark(source, "live")
		t.Print()
	}
	kept := load(live)
	f, err := create(*dir)
	if err == nil {
		err = write(f, size)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "filewriter:", err)
		os.Exit(1)
	}
	time.Sleep(*rest)
	fmt.Println("ended with", len(kept), "pages live")
	runtime.KeepAlive(kept) // its length alone would not keep the memory
}
