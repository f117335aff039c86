// Worker does a fixed piece of work and says what came out: the same to the last
// digit wherever it runs and whoever looks at it. Beside it, it counts system
// calls that were interrupted and signals that nobody should have sent. At each
// round it says a line.
package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
)

const (
	rounds  = 120
	workers = 4
)

var interrupted atomic.Int64

func main() {
	strange := make(chan os.Signal, 100)
	signal.Notify(strange, syscall.SIGCONT, syscall.SIGTRAP, syscall.SIGHUP, syscall.SIGTERM, syscall.SIGUSR1)
	sums := [workers][sha256.Size]byte{}
	fmt.Println("begun")
	for n := range rounds {
		var all sync.WaitGroup
		for w := range workers {
			all.Go(func() { sums[w] = step(sums[w], n) })
		}
		all.Wait()
		fmt.Println("round", n)
	}
	fmt.Printf("done %x, %d interrupted, %d signals\n", sums, interrupted.Load(), len(strange))
	os.Exit(7)
}

// step hashes some garbage, sends it through a pipe and naps.
func step(sum [sha256.Size]byte, n int) [sha256.Size]byte {
	garbage := make([]byte, 64<<10)
	for i := range garbage {
		garbage[i] = sum[i%len(sum)] + byte(i+n)
	}
	var ends [2]int
	check(syscall.Pipe(ends[:]))
	go func() {
		nap()
		_, err := syscall.Write(ends[1], sum[:])
		check(err)
		check(syscall.Close(ends[1]))
	}()
	echo := make([]byte, len(sum))
	got, err := syscall.Read(ends[0], echo)
	for err == syscall.EINTR {
		interrupted.Add(1)
		got, err = syscall.Read(ends[0], echo)
	}
	check(err)
	check(syscall.Close(ends[0]))
	return sha256.Sum256(append(garbage, echo[:got]...))
}

func nap() {
	if syscall.Nanosleep(&syscall.Timespec{Nsec: 2e6}, nil) == syscall.EINTR {
		interrupted.Add(1)
	}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
