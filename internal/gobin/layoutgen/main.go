// Command layoutgen writes the table of runtime layouts that gobin embeds: for
// each toolchain it builds a small program with DWARF and notes where every field
// of the runtime's structs lies. Structs that several toolchains lay out alike
// are written once.
//
//	go generate ./internal/gobin
//
// It needs each toolchain (cmd/go downloads the missing ones) and, the first
// time, a minute of compiling the standard library for each experiment.
package main

import (
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// toolchain is one runtime to measure.
type toolchain struct {
	version    string // "go1.26.8"
	experiment string // GOEXPERIMENT, "" for the default
}

// toolchains are the first and the newest patch of each minor version, those
// between which a struct moved, and the experiments that move one.
var toolchains = []toolchain{
	{"go1.24.0", ""},
	{"go1.24.5", ""},
	{"go1.24.6", ""}, // runtime.m grew
	{"go1.24.13", ""},
	{"go1.24.13", "synctest"},
	{"go1.24.13", "nospinbitmutex"},
	{"go1.24.13", "noswissmap"},
	{"go1.25.0", ""},
	{"go1.25.7", ""},
	{"go1.25.0", "greenteagc"},
	{"go1.25.7", "greenteagc"},
	{"go1.25.7", "jsonv2"},
	{"go1.26.0", ""},
	{"go1.26.8", ""},
	{"go1.26.0", "nogreenteagc"},
	{"go1.26.8", "nogreenteagc"},
	{"go1.26.8", "jsonv2"},
	{"go1.26.8", "goroutineleakprofile"},
	{"go1.27.0", ""},
	{"go1.27.2", ""},
	{"go1.27.0", "nogreenteagc"},
	{"go1.27.2", "nogreenteagc"},
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("layoutgen: ")
	out := flag.String("o", "layouts.txt", "file to write")
	flag.Parse()
	if err := generate(*out); err != nil {
		log.Fatal(err)
	}
}

func generate(out string) error {
	var tab table
	for _, tc := range toolchains {
		info, err := measureToolchain(tc)
		if err != nil {
			return err
		}
		tab.add(tc, info)
		log.Printf("%s %s: %d structs, %d constants", tc.version, tc.experiment, len(info.structs), len(info.consts))
	}
	return os.WriteFile(out, tab.text(), 0o644)
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
	mod := "module example.com/layout\n\ngo 1.24\n"
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
		"GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off", "GOAMD64=v1")
	if msg, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build with %s %s: %w: %s", tc.version, tc.experiment, err, strings.TrimSpace(string(msg)))
	}
	return exe, nil
}
