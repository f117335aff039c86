// Crash is a program that dies by its own fault, in the way it is told, with a
// known amount of memory live: a death that no limit caused.
//
// The linker has switched its heap profile off.
package main

import (
	_ "embed"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"

	"testprog/truth"
)

//go:embed main.go
var source string

// load makes the live heap.
func load(n truth.Size) (kept [][]byte) {
	for ; n > 0; n -= 16 * truth.KiB {
		b := make([]byte, 16*truth.KiB) // truth: live
		truth.Touch(b)
		kept = append(kept, b)
	}
	return kept
}

// ways are the deaths, each with the code that a shell sees. A SIGSEGV that was
// sent ends in a traceback and code 2, as one of its own.
var ways = map[string]struct {
	code int
	die  func()
}{
	"panic": {2, func() { panic("told to") }},
	"nil":   {2, func() { fmt.Println(*nowhere) }},
	"abort": {128 + int(syscall.SIGABRT), abort},
	"segv":  {2, func() { send(syscall.SIGSEGV) }},
	"kill":  {128 + int(syscall.SIGKILL), func() { send(syscall.SIGKILL) }},
	"term":  {128 + int(syscall.SIGTERM), func() { send(syscall.SIGTERM) }},
}

var nowhere *int // nil

// abort dies as GOTRACEBACK=crash does: a traceback, then SIGABRT.
func abort() {
	debug.SetTraceback("crash")
	panic("told to")
}

// send sends itself a signal and gives it time to arrive.
func send(s syscall.Signal) {
	syscall.Kill(os.Getpid(), s)
	time.Sleep(5 * time.Second)
}

func main() {
	live := 32 * truth.MiB
	flag.Var(&live, "live", "bytes live at the end")
	how := flag.String("how", "panic", "panic, nil, abort, segv, kill or term")
	after := flag.Duration("after", time.Second, "time until it dies")
	tell := flag.Bool("truth", false, "print what is true of this program and end")
	flag.Parse()
	way, ok := ways[*how]
	if !ok {
		fmt.Fprintf(os.Stderr, "crash: -how %s: not known\n", *how)
		os.Exit(64)
	}
	if *tell {
		t := truth.Truth{Program: "crash", Class: "healthy", ClassUnlimited: "healthy", ExitCode: way.code}
		t.LiveBytes, t.FloorBytes = int64(live), int64(live)
		t.Mark(source, "live")
		t.Print()
	}
	kept := load(live)
	fmt.Println("live", live.Progress())
	time.Sleep(*after)
	way.die()
	fmt.Println("still here with", len(kept), "pages live")
	runtime.KeepAlive(kept) // its length alone would not keep the memory
}
