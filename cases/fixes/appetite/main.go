// Appetite is a program of known memory to try fixes on: what is live, what it makes of
// garbage, and how that goes on are its flags. It ends by itself.
//
//	appetite garbage -live 100 -rate 200       so many MiB live, and garbage a second
//	appetite large   -live 100 -rate 200       the same in objects of 8 MiB
//	appetite burst   -live 40 -burst 60        and every second so much more for a while
//	appetite higher  -live 40 -burst 60        the same, the last burst three times as large
//	appetite leak    -live 40 -rate 20         live grows by rate
//	appetite leaky   -live 40 -rate 10         the same beside ten times as much garbage
//	appetite batch   -live 300                 loads so much, and ends
//	appetite unused  -live 300                 reserves so much and writes little of it
package main

import (
	"flag"
	"fmt"
	"os"
	"time"
)

const mib = 1 << 20

var (
	live  = flag.Int("live", 100, "MiB live")
	rate  = flag.Int("rate", 200, "MiB a second")
	burst = flag.Int("burst", 60, "MiB of a burst")
	lasts = flag.Duration("for", 5*time.Second, "how long")

	held [][]byte
	sink []byte
)

func main() {
	kinds := map[string]func(){
		"garbage": func() { hold(*live, 512); each(func(int) { waste(*rate/50, 2048) }) },
		"large": func() {
			hold(*live, 512)
			each(func(i int) { every(i, max(1, 400 / *rate), func() { waste(8, 8*mib) }) })
		},
		"burst":  func() { hold(*live, 512); bursts(1) },
		"higher": func() { hold(*live, 512); bursts(3) },
		"leak":   func() { hold(*live, 512); each(func(int) { hold(*rate/50+1, 1024) }) },
		"leaky": func() {
			hold(*live, 512)
			each(func(i int) { waste(*rate/5, 2048); every(i, 10, func() { hold(*rate/5, 1024) }) })
		},
		"batch":  func() { each(func(int) { hold(*live/(int(*lasts/(20*time.Millisecond))+1)+1, 256) }) },
		"unused": func() { held = append(held, make([]byte, *live*mib)); each(func(int) { waste(*rate/50, 2048) }) },
	}
	if len(os.Args) < 2 || kinds[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "appetite: garbage, large, burst, higher, leak, leaky, batch or unused?")
		os.Exit(2)
	}
	kind := os.Args[1]
	if err := flag.CommandLine.Parse(os.Args[2:]); err != nil {
		os.Exit(2)
	}
	kinds[kind]()
	fmt.Println(len(held), len(sink))
}

// each does something 50 times a second until the time is over.
func each(do func(i int)) {
	beat := time.NewTicker(20 * time.Millisecond)
	defer beat.Stop()
	for i := range int(*lasts / (20 * time.Millisecond)) {
		<-beat.C
		do(i)
	}
}

func every(i, n int, do func()) {
	if i%n == 0 {
		do()
	}
}

// hold keeps so many MiB in objects of a size, all written.
func hold(n, size int) {
	for range n * mib / size {
		held = append(held, written(size))
	}
}

// waste makes so many MiB of garbage.
func waste(n, size int) {
	for range n * mib / size {
		sink = written(size)
	}
}

func written(size int) []byte {
	b := make([]byte, size)
	for i := 0; i < size; i += 256 {
		b[i] = 1
	}
	return b
}

// bursts holds more for a fifth of each second; the last burst is last times as large.
func bursts(last int) {
	var more [][]byte
	seconds := int(*lasts / time.Second)
	each(func(i int) {
		waste(*rate/50, 2048)
		size := *burst
		if i/50 >= seconds-2 {
			size *= last
		}
		switch i % 50 {
		case 30, 31, 32, 33, 34, 35, 36, 37, 38, 39:
			for range size * mib / 10 / 4096 {
				more = append(more, written(4096))
			}
		case 45:
			more = nil
		}
	})
}
