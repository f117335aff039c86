// Command layoutgen writes the table of runtime layouts that gobin embeds: for
// each toolchain it builds a small program with DWARF and notes where every field
// of the runtime's structs lies. Structs that several toolchains lay out alike
// are written once. From the folder of gobin:
//
//	go run ./layoutgen -add go1.28.0             a new release, amd64 and arm64
//	go run ./layoutgen -add go1.28.0+greenteagc  with a GOEXPERIMENT
//	go generate                                  measures every toolchain of the table anew
//
// It needs each toolchain (cmd/go downloads the missing ones) and, the first
// time, a minute of compiling the standard library for each experiment.
//
// The table has the first and the newest patch of each minor version, those
// between which a struct moved, and the experiments that move one or are in use.
package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// toolchain is one runtime to measure.
type toolchain struct {
	version    string // "go1.26.8"
	experiment string // GOEXPERIMENT, "" for the default
	arch       string // GOARCH
}

func (tc toolchain) String() string {
	return strings.TrimSpace(tc.version + " " + tc.arch + " " + tc.experiment)
}

// compare orders by architecture, version, experiment.
func (tc toolchain) compare(other toolchain) int {
	return cmp.Or(
		cmp.Compare(tc.arch, other.arch),
		slices.Compare(numbers(tc.version), numbers(other.version)),
		cmp.Compare(tc.experiment, other.experiment),
	)
}

// numbers are those of a version: 1, 26, 8.
func numbers(version string) []int {
	var all []int
	for part := range strings.SplitSeq(strings.TrimPrefix(version, "go"), ".") {
		n, _ := strconv.Atoi(part)
		all = append(all, n)
	}
	return all
}

// arches are the architectures whose layouts are kept.
var arches = []string{"amd64", "arm64"}

func main() {
	log.SetFlags(0)
	log.SetPrefix("layoutgen: ")
	out := flag.String("o", "layouts.txt", "table to write")
	add := flag.String("add", "", "measure only this `version[+experiment]`; several with commas")
	flag.Parse()
	if err := generate(*out, *add); err != nil {
		log.Fatal(err)
	}
}

// generate measures what is to be added to the table in the file out, or, if
// that is empty, all that the table has.
func generate(out, add string) error {
	text, err := os.ReadFile(out)
	if err != nil {
		return err
	}
	tab, err := parse(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", out, err)
	}
	todo := tab.toolchains
	if add == "" {
		tab = new(table)
	} else if todo, err = tab.wanted(add); err != nil {
		return err
	}
	for _, tc := range todo {
		info, err := measureToolchain(tc)
		if err != nil {
			return err
		}
		tab.add(tc, info)
		log.Printf("%s: %d structs, %d constants", tc, len(info.structs), len(info.consts))
	}
	zipped, err := zip(tab.text())
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(out, tab.text(), 0o644), os.WriteFile(out+".gz", zipped, 0o644))
}

// wanted are the toolchains of a list that the table does not have.
func (t *table) wanted(list string) (todo []toolchain, err error) {
	for item := range strings.SplitSeq(list, ",") {
		version, experiment, _ := strings.Cut(item, "+")
		if len(numbers(version)) < 2 || !strings.HasPrefix(version, "go1.") {
			return nil, fmt.Errorf("no version of Go: %q", item)
		}
		for _, arch := range arches {
			if tc := (toolchain{version, experiment, arch}); !slices.Contains(t.toolchains, tc) {
				todo = append(todo, tc)
			}
		}
	}
	return todo, nil
}

func measureToolchain(tc toolchain) (*runtimeInfo, error) {
	dir, err := os.MkdirTemp("", "layoutgen")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	exe, err := build(dir, tc)
	if err != nil {
		return nil, err
	}
	return measure(exe)
}

// program reaches the parts of the runtime that are measured; the linker drops
// the DWARF of the rest.
const program = `package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
)

func main() {
	c := make(chan int)
	go func() { c <- 1 }()
	select {
	case <-c:
	}
	runtime.SetFinalizer(&struct{ x [100]int }{}, func(any) {})
	debug.FreeOSMemory()
	for _, name := range []string{"heap", "goroutine", "block", "mutex", "threadcreate"} {
		pprof.Lookup(name).WriteTo(os.Stdout, 0)
	}
}
`

// build makes the program with the toolchain and returns the executable's path.
func build(dir string, tc toolchain) (string, error) {
	mod := "module example.com/layout\n\ngo 1.20\n"
	if err := errors.Join(
		os.WriteFile(filepath.Join(dir, "go.mod"), []byte(mod), 0o644),
		os.WriteFile(filepath.Join(dir, "main.go"), []byte(program), 0o644),
	); err != nil {
		return "", err
	}
	exe := filepath.Join(dir, "layout")
	cmd := exec.Command("go", "build", "-ldflags=-compressdwarf=false", "-o", exe, ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOTOOLCHAIN="+tc.version, "GOEXPERIMENT="+tc.experiment,
		"GOOS=linux", "GOARCH="+tc.arch, "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off", "GOAMD64=v1")
	if msg, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build with %s: %w: %s", tc, err, strings.TrimSpace(string(msg)))
	}
	return exe, nil
}

// zip compresses the table for the executable, in which it would be 200 KB more.
func zip(text []byte) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(text); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
