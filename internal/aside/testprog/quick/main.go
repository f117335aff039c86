// Quick is a program that ends at once, with the code it is told: nothing of it
// may be missed, and nothing may be made up.
package main

import (
	"flag"
	"fmt"
	"os"

	"testprog/truth"
)

func main() {
	code := flag.Int("code", 0, "exit code")
	tell := flag.Bool("truth", false, "print what is true of this program and end")
	flag.Parse()
	if *tell {
		truth.Truth{Program: "quick", Class: "inconclusive", ClassUnlimited: "inconclusive", ExitCode: *code}.Print()
	}
	fmt.Println("ended")
	os.Exit(*code)
}
