// Target is the program that the benchmarks watch: it has as many allocation
// sites as it is asked for, and then does one of a few things.
//
//	target -do hold    keeps what it has and answers HTTP
//	target -do churn   allocates at a steady rate from all sites
//	target -do job     a fixed amount of work; prints the CPU time it took
//	target -do fill    allocates as fast as it can until it is killed
//	target -do wake    rests before that
//	target -do heap    keeps so many objects as -objects says
//	target -do map     the same, and only a map leads to them
//	target -do change  the same as heap, and changes them all the time
//
// With -tick it also says over HTTP how long it stood still.
package main

import (
	"flag"
	"fmt"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
	"runtime"
	"syscall"
	"time"
)

func main() {
	sites := flag.Int("sites", 0, "allocation sites: distinct stacks in the heap profile")
	do := flag.String("do", "hold", "hold, churn, job, fill, wake, heap, map or change")
	objects := flag.Int("objects", 0, "objects that heap keeps")
	rate := flag.Int("rate", 20<<20, "bytes a second that churn allocates")
	rounds := flag.Int("rounds", 60, "size of the job")
	lasts := flag.Duration("for", time.Hour, "end after this time")
	rests := flag.Duration("rests", 6*time.Second, "how long wake rests")
	tick := flag.Bool("tick", false, "tick, and answer /stood")
	flag.Parse()
	if *tick {
		tellStood()
	}
	makeSites(*sites)
	serve()
	switch *do {
	case "hold":
		time.Sleep(*lasts)
	case "churn":
		churn(*sites, *rate, *lasts)
	case "job":
		job(*rounds)
		fmt.Println("cpu", usedCPU().Nanoseconds())
	case "wake":
		time.Sleep(*rests)
		fill(*sites)
	case "fill":
		fill(*sites)
	case "heap":
		makeHeap(*objects)
		time.Sleep(*lasts)
	case "map":
		makeMap(*objects)
		time.Sleep(*lasts)
	case "change":
		makeHeap(*objects)
		changeCache()
	}
}

// serve answers net/http/pprof and says where.
func serve() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	go http.Serve(listener, nil)
	fmt.Println("ready", listener.Addr())
}

// makeSites allocates once from every site, with every allocation sampled, so
// that each has its bucket in the heap profile from then on.
func makeSites(n int) {
	rate := runtime.MemProfileRate
	runtime.MemProfileRate = 1
	for i := range n {
		kept = append(kept, allocate(uint(i), 0))
	}
	runtime.MemProfileRate = rate
	runtime.GC() // two collections publish what was sampled
	runtime.GC()
}

// churn allocates from one site after another, all of them known from makeSites,
// keeps a little, and rests.
func churn(sites, rate int, lasts time.Duration) {
	const beat = 10 * time.Millisecond
	recent := make([][]byte, 4096)
	end := time.Now().Add(lasts)
	for i := 0; time.Now().Before(end); time.Sleep(beat) {
		for made := 0; made < rate/int(time.Second/beat); i++ {
			b := allocate(uint(i*7919%sites), 0)
			made += len(b)
			recent[i%len(recent)] = b
		}
	}
}

// fill keeps everything, from two goroutines at once.
func fill(sites int) {
	done := make(chan bool)
	for g := range 2 {
		go func() {
			var all [][]byte
			for i := g; ; i += 2 {
				b := allocate(uint(i%max(sites, 1)), 512*(1+i%64))
				for at := 0; at < len(b); at += 512 {
					b[at] = 1
				}
				all = append(all, b)
			}
		}()
	}
	<-done
}

// usedCPU is the CPU time of this process so far.
func usedCPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
