// Neverready is a program that is waited for in vain: it runs, listens nowhere
// and says nothing, until its time is over.
package main

import (
	"flag"
	"time"

	"testprog/truth"
)

func main() {
	lasts := flag.Duration("for", time.Minute, "end after this time")
	tell := flag.Bool("truth", false, "print what is true of this program and end")
	flag.Parse()
	if *tell {
		truth.Truth{Program: "neverready", Class: "healthy", ClassUnlimited: "healthy"}.Print()
	}
	time.Sleep(*lasts)
}
