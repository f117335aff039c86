// Wakes rests until it is sent SIGUSR1, and then fills its memory within 300 ms.
package main

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

var held [][]byte

func main() {
	woken := make(chan os.Signal, 1)
	signal.Notify(woken, syscall.SIGUSR1)
	<-woken
	for range 1 << 10 {
		held = append(held, fill(make([]byte, 1<<20)))
		time.Sleep(3 * time.Millisecond)
	}
}

// fill touches each page.
func fill(b []byte) []byte {
	for i := 0; i < len(b); i += 4096 {
		b[i] = 1
	}
	return b
}
