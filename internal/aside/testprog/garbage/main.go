// Garbage is a program whose live heap is constant and fits its limit, and
// whose collector does not know the limit: at GOGC=100 the heap grows to twice
// what is live before it is collected. It starts with the GOGC and GOMEMLIMIT
// of its environment.
//
// The linker has switched its heap profile off.
package main

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

const page = 16 * truth.KiB

// load makes the live heap: one page after the other, kept to the end.
func load(n truth.Size) (kept [][]byte) {
	for ; n > 0; n -= page {
		b := make([]byte, page) // truth: live
		truth.Touch(b)
		kept = append(kept, b)
	}
	return kept
}

// churn makes one piece of garbage.
func churn(size truth.Size) {
	garbage = make([]byte, size) // truth: garbage
	truth.Touch(garbage)
}

var garbage []byte

func main() {
	live, piece, rate := 150*truth.MiB, 16*truth.KiB, 200*truth.MiB
	flag.Var(&live, "live", "bytes live all the time")
	flag.Var(&piece, "piece", "bytes of one piece of garbage")
	flag.Var(&rate, "rate", "bytes of garbage a second; 0: as fast as it goes")
	lasts := flag.Duration("for", 30*time.Second, "end after this time")
	tell := flag.Bool("truth", false, "print what is true of this program and end")
	flag.Parse()
	if *tell {
		t := truth.Truth{Program: "garbage", Class: "gc-unaware", ClassUnlimited: "healthy"}
		t.LiveBytes, t.FloorBytes, t.ObjectBytes = int64(live), int64(live), int64(page)
		t.Mark(source, "live", "garbage")
		t.Print()
	}
	kept := load(live)
	fmt.Println("live", live.Progress())
	pace, made := truth.Pace{PerSecond: rate}, truth.Size(0)
	for end := time.Now().Add(*lasts); time.Now().Before(end); pace.Made(piece) {
		churn(piece)
		if made += piece; made%(64*truth.MiB) < piece {
			fmt.Println("garbage", made.Progress())
		}
	}
	fmt.Println("ended with", len(kept), "pages live")
	runtime.KeepAlive(kept) // its length alone would not keep the memory
}
