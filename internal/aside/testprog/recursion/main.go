// Recursion is a program that follows a list by calling itself for each of its items, so that the stack of its goroutine
// grows to 256 MiB. A stack doubles as it grows, and for a moment both are there: killed under a limit it is mostly copying
// one. Its verdict is a burst of one call; the line to blame is the one that calls itself.
package main

import (
	_ "embed"
	"flag"
	"fmt"

	"testprog/truth"
)

//go:embed main.go
var source string

// follow is how many items a list has.
func follow(left int, seen [4]int) int {
	if left == 0 {
		return 0
	}
	seen[left%4]++
	n := follow(left-1, seen) // truth: call
	return n + min(1, seen[left%4])
}

func main() {
	items := flag.Int("items", 2_500_000, "items of the list")
	tell := flag.Bool("truth", false, "print what is true of this program and end")
	flag.Parse()
	if *tell {
		t := truth.Truth{Program: "recursion", Class: "burst", ClassUnlimited: "healthy"}
		t.Blame(source, "call")
		t.Print()
	}
	fmt.Println("items", follow(*items, [4]int{}))
}
