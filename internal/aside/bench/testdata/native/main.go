// Native is a program whose memory is C's: it grows at a rate, stands still, fills memory as fast as it
// can, or calls malloc and free in turn. It prints what that took. It needs a C compiler.
package main

/*
#include <stdlib.h>
#include <string.h>

static void *keep(size_t n) { void *p = malloc(n); if (p) memset(p, 1, n); return p; }

// work computes for some 80 microseconds for each block that it fills: at 8 KiB, 100 MB/s.
static unsigned work(int n) {
	unsigned x = 1;
	for (int i = 0; i < n; i++) {
		keep(8 << 10);
		for (int k = 0; k < 80000; k++) x = x * 1664525u + 1013904223u;
	}
	return x;
}

static void pairs(int n) {
	for (int i = 0; i < n; i++) {
		void *volatile p = malloc(32 + (i * 37) % 256);
		free(p);
	}
}
*/
import "C"

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"syscall"
	"time"
)

const block = 8 << 10

func main() {
	do := flag.String("do", "grow", "grow, steady, fill, work or pairs")
	rate := flag.Int("rate", 100_000_000, "grow by so many bytes a second")
	n := flag.Int("n", 300_000, "pairs of malloc and free, or blocks to fill")
	flag.Parse()
	fmt.Println("ready", os.Getpid())
	switch *do {
	case "grow":
		grow(*rate)
	case "steady":
		C.keep(64 << 20)
		for {
			time.Sleep(10 * time.Millisecond)
		}
	}
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n') // until whoever watches is ready
	before := spent()
	switch *do {
	case "pairs":
		C.pairs(C.int(*n))
	case "work":
		C.work(C.int(*n))
	default:
		for range *n {
			C.keep(block)
		}
	}
	fmt.Printf("took %.1f\n", float64((spent()-before).Nanoseconds())/float64(*n))
}

// grow runs until it is ended.
func grow(rate int) {
	start, n := time.Now(), 0
	for {
		for due := int(time.Since(start).Seconds() * float64(rate)); n < due; n += block {
			C.keep(block)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// spent is the processor time of this process so far.
func spent() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(0, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
