// Oldprog is a program that any Go from 1.20 on builds: it fills 8 MiB and ends
// with code 7.
package main

import (
	"os"
	"time"
)

var kept [][]byte

func main() {
	for i := 0; i < 128; i++ {
		b := make([]byte, 64<<10)
		for at := 0; at < len(b); at += 4096 {
			b[at] = 1
		}
		kept = append(kept, b)
		time.Sleep(2 * time.Millisecond)
	}
	os.Exit(7)
}
