// Cgothreads has C code start threads that wait and never end. It needs a C compiler.
package main

/*
#cgo LDFLAGS: -lpthread
#include <pthread.h>
#include <unistd.h>
static void *poolWorker(void *p) { for (;;) pause(); return 0; }
static void startPool(int n) { pthread_t t; for (int i = 0; i < n; i++) pthread_create(&t, 0, poolWorker, 0); }
*/
import "C"

import (
	_ "embed"
	"flag"
	"time"

	"testprog/truth"
)

//go:embed main.go
var source string

func main() {
	n := flag.Int("n", 2000, "threads")
	rest := flag.Duration("rest", time.Second, "time it lives on")
	tell := flag.Bool("truth", false, "print what is true of this program and end")
	flag.Parse()
	if *tell {
		t := truth.Truth{Program: "cgothreads", Class: "goroutine-leak", ClassUnlimited: "goroutine-leak"}
		t.Blame(source, "start")
		t.Print()
	}
	C.startPool(C.int(*n)) // truth: start
	time.Sleep(*rest)
}
