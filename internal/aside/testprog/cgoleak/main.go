// Cgoleak is a program that leaks memory of C's malloc while its Go heap stays
// small: Go's own figures do not see it. Its verdict is native memory. It needs
// a C compiler.
package main

/*
#include <stdlib.h>
#include <string.h>

// keep allocates n bytes and writes them. Nothing frees them: that is the leak.
static void *keep(size_t n) {
	void *p = malloc(n);
	if (p) memset(p, 1, n);
	return p;
}
*/
import "C"

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

// grow takes one piece of C's memory and loses it; false: C has no more.
func grow(piece truth.Size) bool {
	return C.keep(C.size_t(piece)) != nil // truth: native
}

// load makes the small Go heap.
func load(n truth.Size) (kept [][]byte) {
	for ; n > 0; n -= 16 * truth.KiB {
		b := make([]byte, 16*truth.KiB) // truth: live
		truth.Touch(b)
		kept = append(kept, b)
	}
	return kept
}

func main() {
	live, piece, rate, limit := 8*truth.MiB, 96*truth.KiB, 60*truth.MiB, truth.GiB
	flag.Var(&live, "live", "bytes of Go heap, live all the time")
	flag.Var(&piece, "piece", "bytes of one malloc; from 128KiB on glibc maps each by itself")
	flag.Var(&rate, "rate", "bytes of C memory a second; 0: as fast as it goes")
	flag.Var(&limit, "max", "stop growing at so many bytes of C memory")
	lasts := flag.Duration("for", time.Minute, "end after this time")
	tell := flag.Bool("truth", false, "print what is true of this program and end")
	flag.Parse()
	if *tell {
		t := truth.Truth{Program: "cgoleak", Class: "native", ClassUnlimited: "native"}
		t.LiveBytes, t.FloorBytes, t.NativeBytes, t.ObjectBytes = int64(live), int64(live), int64(limit), int64(piece)
		t.Mark(source, "native", "live")
		t.Print()
	}
	kept := load(live)
	end := time.Now().Add(*lasts)
	pace := truth.Pace{PerSecond: rate}
	for native := piece; native <= limit && time.Now().Before(end); native += piece {
		if !grow(piece) {
			fmt.Fprintln(os.Stderr, "malloc failed")
			os.Exit(1)
		}
		if pace.Made(piece); native%(16*truth.MiB) < piece {
			fmt.Println("native", native.Progress())
		}
	}
	time.Sleep(time.Until(end))
	fmt.Println("ended with", len(kept), "pages live in Go")
	runtime.KeepAlive(kept) // its length alone would not keep the memory
}
