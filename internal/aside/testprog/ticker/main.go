// Ticker is a program that says ten times a second that it lives and how many
// milliseconds passed since it last did: a watched program runs on, and this is
// for how long it was stopped at most.
package main

import (
	"flag"
	"fmt"
	"time"

	"testprog/truth"
)

func main() {
	every := flag.Duration("every", 100*time.Millisecond, "time between ticks")
	lasts := flag.Duration("for", 20*time.Second, "end after this time")
	tell := flag.Bool("truth", false, "print what is true of this program and end")
	flag.Parse()
	if *tell {
		truth.Truth{Program: "ticker", Class: "healthy", ClassUnlimited: "healthy"}.Print()
	}
	beat := time.NewTicker(*every)
	defer beat.Stop()
	last, longest := time.Now(), time.Duration(0)
	for n, end := 1, last.Add(*lasts); last.Before(end); n++ {
		<-beat.C
		gap := time.Since(last)
		last, longest = time.Now(), max(longest, gap)
		fmt.Println("tick", n, "after", gap.Milliseconds(), "ms")
	}
	fmt.Println("ended, longest gap", longest.Milliseconds(), "ms")
}
