// Lockedthreads starts goroutines that lock themselves to a thread and wait: each keeps an OS
// thread, with its kernel stack, page tables and, in a program with C, a stack of C. Its verdict is a pile
// of goroutines. It needs a C compiler.
package main

/*
static void nothing(void) {}
*/
import "C"

import (
	_ "embed"
	"flag"
	"fmt"
	"runtime"
	"sync"
	"time"

	"testprog/truth"
)

//go:embed main.go
var source string

// serve has a thread to itself until stop is closed.
func serve(ready *sync.WaitGroup, stop <-chan struct{}) {
	runtime.LockOSThread()
	C.nothing()
	ready.Done()
	<-stop // truth: wait
}

func main() {
	n := flag.Int("n", 2000, "threads")
	lasts := flag.Duration("for", time.Minute, "end after this time")
	tell := flag.Bool("truth", false, "print what is true of this program and end")
	flag.Parse()
	if *tell {
		t := truth.Truth{Program: "lockedthreads", Class: "goroutine-leak", ClassUnlimited: "goroutine-leak"}
		t.Blame(source, "wait")
		t.Mark(source, "start")
		t.Print()
	}
	end := time.Now().Add(*lasts)
	var ready sync.WaitGroup
	stop := make(chan struct{})
	for range *n {
		ready.Add(1)
		go serve(&ready, stop) // truth: start
	}
	ready.Wait()
	fmt.Println("started", *n)
	time.Sleep(time.Until(end))
	close(stop)
	fmt.Println("ended")
}
