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
	"flag"
	"time"
)

func main() {
	n := flag.Int("n", 2000, "threads")
	rest := flag.Duration("rest", time.Second, "time it lives on")
	flag.Parse()
	C.startPool(C.int(*n))
	time.Sleep(*rest)
}
