// Processes is a Go program that starts several Go programs of different sizes,
// itself with -child, and waits for them; with -shell each under a shell that
// stays between them. A watcher must tell them apart: the parent's heap is
// small, the children's are known. With -leak N the N-th child grows without
// end. With -every they are started one after another, so far apart, and pile up.
//
// The linker has switched its heap profile off.
package main

import (
	_ "embed"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"testprog/truth"
)

//go:embed main.go
var source string

// options are the flags.
type options struct {
	sizes       []truth.Size // of the children, in order
	leak        int          // the child that grows, from 1; 0: none
	shell       bool
	rate, limit truth.Size
	lasts       time.Duration
	every       time.Duration // between two starts
}

// load makes a child's live heap.
func load(n truth.Size) (kept [][]byte) {
	for ; n > 0; n -= 16 * truth.KiB {
		b := make([]byte, 16*truth.KiB) // truth: live
		truth.Touch(b)
		kept = append(kept, b)
	}
	return kept
}

// grow is the fault of the child that leaks.
func grow(kept [][]byte) [][]byte {
	b := make([]byte, 64*truth.KiB) // truth: leak
	truth.Touch(b)
	return append(kept, b)
}

// child keeps its live heap until its time is over, and grows if it must.
func child(o options, live truth.Size) {
	kept := load(live)
	end := time.Now().Add(o.lasts)
	fmt.Println("child", os.Getpid(), "live", live.Progress())
	pace := truth.Pace{PerSecond: o.rate}
	for grown := truth.Size(0); o.leak > 0 && grown < o.limit && time.Now().Before(end); grown += 64 * truth.KiB {
		kept = grow(kept)
		pace.Made(64 * truth.KiB)
	}
	time.Sleep(time.Until(end))
	fmt.Println("child", os.Getpid(), "ended with", len(kept), "pieces")
	runtime.KeepAlive(kept) // its length alone would not keep the memory
}

// parent starts the children, waits for all, and says how many failed.
func parent(o options) (failed int) {
	var children []*exec.Cmd
	for i, size := range o.sizes {
		if i > 0 {
			time.Sleep(o.every)
		}
		c := command(o, i+1, size)
		if err := c.Start(); err != nil {
			fmt.Fprintln(os.Stderr, "processes:", err)
			failed++
			continue
		}
		children = append(children, c)
	}
	for _, c := range children {
		if err := c.Wait(); err != nil {
			fmt.Println("child", c.Process.Pid, "failed:", err)
			failed++
		}
	}
	return failed
}

// command is the n-th child's. The shell has something to do after its
// program, so that it does not exec it.
func command(o options, n int, size truth.Size) *exec.Cmd {
	args := []string{"-child", size.String(), "-for", o.lasts.String(), "-rate", o.rate.String(), "-max", o.limit.String()}
	if n == o.leak {
		args = append(args, "-leak", "1")
	}
	c := exec.Command(os.Args[0], args...)
	if o.shell {
		c = exec.Command("/bin/sh", append([]string{"-c", `"$0" "$@"; exit $?`, os.Args[0]}, args...)...)
	}
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	return c
}

func main() {
	o := options{rate: 20 * truth.MiB, limit: truth.GiB}
	live := truth.Size(0)
	flag.Var(&live, "child", "be a child with so many bytes live")
	sizes := flag.String("sizes", "16MiB,32MiB,64MiB", "live bytes of the children")
	flag.IntVar(&o.leak, "leak", 0, "the child that grows, from 1; 0: none")
	flag.BoolVar(&o.shell, "shell", false, "start each child under a shell")
	flag.Var(&o.rate, "rate", "bytes a second that the leaking child grows by; 0: as fast as it goes")
	flag.Var(&o.limit, "max", "bytes at which the leaking child stops growing")
	flag.DurationVar(&o.every, "every", 0, "start the children so far apart")
	flag.DurationVar(&o.lasts, "for", 20*time.Second, "end after this time")
	tell := flag.Bool("truth", false, "print what is true of this program and end")
	flag.Parse()
	o.sizes = parse(*sizes)
	if *tell {
		tellTruth(o)
	}
	if live > 0 {
		child(o, live)
		return
	}
	if parent(o) > 0 {
		os.Exit(1)
	}
	fmt.Println("ended")
}

func tellTruth(o options) {
	t := truth.Truth{Program: "processes", Class: "healthy", ClassUnlimited: "healthy"}
	if o.every > 0 {
		t.Class, t.ClassUnlimited = "process-leak", "process-leak"
	}
	for i, size := range o.sizes {
		if i+1 == o.leak {
			t.Class, t.ClassUnlimited = "leak", "leak"
			t.Blame(source, "leak")
			size += o.limit
		}
		t.Processes = append(t.Processes, int64(size))
		t.LiveBytes += int64(size)
	}
	t.Mark(source, "live")
	t.Print()
}

// parse reads "16MiB,32MiB"; what is no size ends the program.
func parse(text string) (sizes []truth.Size) {
	for _, field := range strings.Split(text, ",") {
		var size truth.Size
		if err := size.Set(field); err != nil {
			fmt.Fprintln(os.Stderr, "processes:", err)
			os.Exit(2)
		}
		sizes = append(sizes, size)
	}
	return sizes
}
