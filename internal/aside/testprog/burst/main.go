// Burst is a program whose live heap is high only while requests are in flight:
// each handler holds one big buffer for a while. Between bursts it comes back to
// its floor. Its last burst is the largest: under a limit that the earlier ones
// fit, it is a burst that kills it.
//
// The linker has switched its heap profile off.
package main

import (
	_ "embed"
	"flag"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"testprog/truth"
)

//go:embed main.go
var source string

// server is the floor, and what its handlers share.
type server struct {
	floor  [][]byte
	buffer truth.Size
	hold   time.Duration
}

// handle is one request: it reads everything into memory, then works on it.
func (s *server) handle() int {
	body := make([]byte, s.buffer) // truth: burst
	truth.Touch(body)
	time.Sleep(s.hold)
	return checksum(body)
}

// checksum keeps the body alive until the end of its handler.
func checksum(b []byte) (sum int) {
	for i := 0; i < len(b); i += truth.PageSize {
		sum += int(b[i])
	}
	return sum
}

// burst handles n requests at once and waits for them.
func (s *server) burst(n int) {
	var handlers sync.WaitGroup
	for range n {
		handlers.Add(1)
		go func() {
			defer handlers.Done()
			s.handle()
		}()
	}
	handlers.Wait()
}

// quiet is the small work between bursts: garbage, which lets the collector
// find the buffers dead.
func (s *server) quiet(pause time.Duration, rate truth.Size) {
	pace := truth.Pace{PerSecond: rate}
	for end := time.Now().Add(pause); time.Now().Before(end); pace.Made(16 * truth.KiB) {
		small = make([]byte, 16*truth.KiB) // truth: garbage
		truth.Touch(small)
	}
}

var small []byte

// fill makes the floor: small objects, live as long as the program.
func (s *server) fill(n truth.Size) {
	for ; n > 0; n -= 16 * truth.KiB {
		page := make([]byte, 16*truth.KiB) // truth: floor
		truth.Touch(page)
		s.floor = append(s.floor, page)
	}
}

func main() {
	s := server{buffer: 32 * truth.MiB}
	floor, rate := 16*truth.MiB, 80*truth.MiB
	flag.Var(&s.buffer, "buffer", "bytes that a request holds")
	flag.Var(&floor, "floor", "bytes live all the time")
	flag.Var(&rate, "garbage", "bytes of garbage a second between bursts; 0: as fast as it goes")
	flag.DurationVar(&s.hold, "hold", 500*time.Millisecond, "how long a request holds its buffer")
	pause := flag.Duration("pause", 2*time.Second, "time between bursts")
	bursts := flag.String("bursts", "2,3,2,10", "requests at once, burst by burst")
	tell := flag.Bool("truth", false, "print what is true of this program and end")
	flag.Parse()
	sizes, most := parse(*bursts)
	if *tell {
		t := truth.Truth{Program: "burst", Class: "burst", ClassUnlimited: "healthy", ObjectBytes: int64(s.buffer)}
		t.FloorBytes, t.LiveBytes = int64(floor), int64(floor+truth.Size(most)*s.buffer)
		t.Blame(source, "burst")
		t.Mark(source, "floor", "garbage")
		t.Print()
	}
	s.fill(floor)
	for i, n := range sizes {
		s.quiet(*pause, rate)
		fmt.Println("burst", i+1, "of", len(sizes), "with", n, "requests")
		s.burst(n)
	}
	s.quiet(*pause, rate)
	fmt.Println("ended with", len(s.floor), "pages of floor")
}

// parse reads "2,3,8" and finds the most; what is no number from 1 to 64 is 1.
func parse(text string) (sizes []int, most int) {
	for _, field := range strings.Split(text, ",") {
		n, err := strconv.Atoi(field)
		if err != nil || n < 1 || n > 64 {
			n = 1
		}
		sizes = append(sizes, n)
		most = max(most, n)
	}
	return sizes, most
}
