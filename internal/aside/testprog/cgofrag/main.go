// Cgofrag allocates many small blocks with C's malloc and frees all but a few of them, which lie
// between: malloc keeps what was freed, as each page still holds a block. Nothing leaks. Its
// verdict is fragmentation. With -threads each of so many threads does so in an arena of its
// own, one after the other, so that one arena would have been enough. It needs a C compiler.
package main

/*
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// blocks allocates n blocks and frees all but one of keep of them. What is left is the program's.
static void blocks(size_t n, size_t size, size_t keep) {
	void **list = malloc(n * sizeof *list);
	for (size_t i = 0; i < n; i++) {
		list[i] = malloc(size);
		memset(list[i], 1, size);
	}
	for (size_t i = 0; i < n; i++)
		if (i % keep) free(list[i]);
	free(list);
}
*/
import "C"

import (
	_ "embed"
	"flag"
	"fmt"
	"runtime"
	"time"

	"testprog/truth"
)

//go:embed main.go
var source string

// fill leaves holes.
func fill(n, size, keep int) {
	C.blocks(C.size_t(n), C.size_t(size), C.size_t(keep)) // truth: native
}

func main() {
	n := flag.Int("blocks", 150_000, "how many are allocated at a time")
	size := flag.Int("size", 1000, "bytes of each")
	keep := flag.Int("keep", 16, "one of so many is kept")
	threads := flag.Int("threads", 0, "threads that do so one after the other; 0: the main thread does")
	lasts := flag.Duration("for", time.Minute, "end after this time")
	tell := flag.Bool("truth", false, "print what is true of this program and end")
	flag.Parse()
	if *tell {
		t := truth.Truth{Program: "cgofrag", Class: "fragmentation", ClassUnlimited: "fragmentation"}
		t.NativeBytes, t.ObjectBytes = int64(*n**size*max(1, *threads)), int64(*size)
		t.Mark(source, "native")
		t.Print()
	}
	runtime.LockOSThread()
	end := time.Now().Add(*lasts)
	if *threads == 0 {
		fill(*n, *size, *keep)
	}
	for range *threads {
		done := make(chan bool)
		go func() {
			runtime.LockOSThread()
			fill(*n, *size, *keep)
			done <- true
			select {} // its arena stays its own
		}()
		<-done
	}
	fmt.Println("freed")
	time.Sleep(time.Until(end))
	fmt.Println("ended")
}
