// Command target is a program that says of itself what is to be read from its
// memory. It obeys commands on standard input, a line each, and ends every
// answer with a line "END".
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"time"
)

var (
	held    [][]byte // what "hold" and "big" keep
	records = make([]runtime.MemProfileRecord, 60000)
	stats   runtime.MemStats
	answer  = make([]byte, 0, 1<<16)
)

func main() {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		words := strings.Fields(in.Text())
		n := 0
		if len(words) > 1 {
			n, _ = strconv.Atoi(words[1])
		}
		obey(words[0], n)
		os.Stdout.WriteString("END\n")
	}
}

func obey(command string, n int) {
	switch command {
	case "gc":
		runtime.GC()
		runtime.GC()
	case "nogc":
		debug.SetGCPercent(-1)
	case "gogc":
		debug.SetGCPercent(n)
	case "limit":
		debug.SetMemoryLimit(int64(n))
	case "rate":
		runtime.MemProfileRate = n
	case "allocate":
		allocate(n)
	case "big":
		held = append(held, make([]byte, n))
	case "drop":
		held = nil
	case "large":
		large = []any{new(wide), new([1]wide), new([40]mixed), new([7][9]mixed), new([300]func()), new([200]any)}
	case "sites":
		sites(n)
	case "deep": // one site under n frames
		buried(n)
	case "goroutines":
		goroutines(n)
	case "threads": // n goroutines that wait, each with a thread of its own
		threads(n)
	case "labels": // n goroutines of two labels, of which one differs
		for i := 0; i < n; i++ {
			pprof.Do(context.Background(), pprof.Labels("route", "/orders", "tenant", strconv.Itoa(i%3)), func(context.Context) {
				go func() { select {} }()
			})
		}
		time.Sleep(50 * time.Millisecond)
	case "tree":
		root = plant(n)
	case "garbage":
		root = nil
	case "spin":
		runtime.GOMAXPROCS(1)
		for i := 0; i < n; i++ {
			go spin()
		}
		time.Sleep(50 * time.Millisecond)
	case "churn":
		for i := 0; i < n; i++ {
			go churn()
		}
	case "busy": // allocates at full speed, for ever
		for i := 0; i < n; i++ {
			go func() {
				for i := uint(0); ; i++ {
					turn[i%uint(len(turn))] = busy(i%64, 6)
				}
			}()
		}
	case "stats":
		printStats()
	case "metrics":
		printMetrics()
	case "profile":
		printProfile()
	case "dump":
		pprof.Lookup("goroutine").WriteTo(os.Stdout, 2)
	case "pprof": // what /debug/pprof/heap costs the program, HTTP apart
		for i := 0; i < n; i++ {
			pprof.Lookup("heap").WriteTo(io.Discard, 0)
		}
	case "free":
		debug.FreeOSMemory()
	default:
		fmt.Println("unknown command", command)
	}
}

//go:noinline
func threads(n int) {
	var locked sync.WaitGroup
	locked.Add(n)
	for i := 0; i < n; i++ {
		go waitInThread(&locked)
	}
	locked.Wait()
}

//go:noinline
func waitInThread(locked *sync.WaitGroup) {
	runtime.LockOSThread()
	locked.Done()
	select {}
}

// Types so large that the runtime makes their pointer masks when it needs them.
type (
	mixed struct {
		b    bool
		name string
		n    [3]int
		list []int
		m    map[int]int
		f    float64
		next *mixed
		i    interface{ Error() string }
		tail [2]uint32
	}
	wide struct {
		first  byte
		all    [30]mixed
		number [50]uint64
		one    [1]struct{ inner [20]mixed }
		none   struct{}
		flags  [33]bool
		last   [70]*int
		behind [100]uintptr
	}
)

var large []any

type node struct {
	left, right *node
	data        []byte
	pad         [12]uint64
}

var root *node

// plant makes a tree of n nodes of 136 bytes, each with 64 bytes of data.
func plant(n int) *node {
	if n == 0 {
		return nil
	}
	n--
	return &node{left: plant(n / 2), right: plant(n - n/2), data: make([]byte, 64)}
}

//go:noinline
func small() []byte { return make([]byte, 100) }

func allocate(n int) {
	for i := 0; i < n; i++ {
		b := small()
		if i%3 == 0 {
			held = append(held, b)
		}
		if i%100 == 0 {
			held = append(held, make([]byte, 5000))
		}
	}
}

// sites makes n allocation sites: stacks differ by the path through left and
// right. Up to 16,384 differ in the first 32 frames.
func sites(n int) {
	depth := 14
	if n > 1<<14 {
		depth = 20
	}
	for i := 0; i < n; i++ {
		descend(uint(i), depth)
	}
}

// turn is what "busy" last allocated.
var turn [4096][]byte

func busy(path uint, depth int) []byte {
	if depth == 0 {
		return make([]byte, 2048)
	}
	if path&1 == 0 {
		return busyLeft(path>>1, depth-1)
	}
	return busyRight(path>>1, depth-1)
}

//go:noinline
func busyLeft(path uint, depth int) []byte { return busy(path, depth) }

//go:noinline
func busyRight(path uint, depth int) []byte { return busy(path, depth) }

func descend(path uint, depth int) {
	if depth == 0 {
		held = append(held, make([]byte, 32))
		return
	}
	if path&1 == 0 {
		left(path>>1, depth-1)
	} else {
		right(path>>1, depth-1)
	}
}

//go:noinline
func left(path uint, depth int) { descend(path, depth) }

//go:noinline
func right(path uint, depth int) { descend(path, depth) }

//go:noinline
func buried(n int) {
	if n > 0 {
		buried(n - 1)
		return
	}
	held = append(held, make([]byte, 777))
}

type server struct{ c chan int }

func (s *server) serve()            { <-s.c }
func (s *server) wait(d int)        { deep(d, func() { <-s.c }) }
func deep(d int, f func())          { deeper(d, f) }
func generic[T any](c chan T) (v T) { return <-c }

//go:noinline
func deeper(d int, f func()) {
	if d == 0 {
		f()
		return
	}
	deep(d-1, f)
}

type runner interface{ serve() }

type outer struct{ *server }

// goroutines starts one of every kind, and n more that are alike.
func goroutines(n int) {
	s := &server{c: make(chan int)}
	var r runner = outer{s}
	go s.serve()
	go r.serve()
	go s.wait(7)
	go s.wait(20)
	go generic(make(chan string))
	f := s.serve
	go f()
	go func() { select {} }()
	go func() {
		select {
		case <-make(chan int):
		case make(chan int) <- 1:
		}
	}()
	go time.Sleep(time.Hour)
	go runtime.Gosched()
	var mu sync.Mutex
	mu.Lock()
	go mu.Lock()
	var wg sync.WaitGroup
	wg.Add(1)
	go wg.Wait()
	go sync.NewCond(&mu).Wait()
	pipe, _, _ := os.Pipe()
	go pipe.Read(make([]byte, 1))
	for i := 0; i < n; i++ {
		go func() { s.wait(3) }()
	}
	time.Sleep(50 * time.Millisecond)
}

//go:noinline
func spin() {
	for i := 0; ; i++ {
		if i < 0 {
			fmt.Println(i)
		}
	}
}

// churn starts goroutines that end soon and moves their stacks, for ever.
func churn() {
	c := make(chan int)
	for i := 0; ; i++ {
		i := i
		go func() { deep(i%50, func() { c <- grow(i % 40) }) }()
		<-c
	}
}

//go:noinline
func grow(n int) int {
	var frame [256]byte
	if n == 0 {
		return 0
	}
	frame[n] = byte(grow(n - 1))
	return int(frame[n/2])
}

func printStats() {
	n := runtime.NumGoroutine()
	runtime.ReadMemStats(&stats)
	b := answer[:0]
	for _, v := range []struct {
		name  string
		value uint64
	}{
		{"HeapAlloc", stats.HeapAlloc}, {"TotalAlloc", stats.TotalAlloc},
		{"HeapInuse", stats.HeapInuse}, {"HeapIdle", stats.HeapIdle}, {"HeapReleased", stats.HeapReleased},
		{"HeapSys", stats.HeapSys}, {"NextGC", stats.NextGC}, {"StackInuse", stats.StackInuse}, {"StackSys", stats.StackSys},
		{"MSpanSys", stats.MSpanSys}, {"MCacheSys", stats.MCacheSys}, {"BuckHashSys", stats.BuckHashSys},
		{"GCSys", stats.GCSys}, {"OtherSys", stats.OtherSys}, {"LastGC", stats.LastGC}, {"PauseTotalNs", stats.PauseTotalNs},
		{"NumGC", uint64(stats.NumGC)}, {"NumForcedGC", uint64(stats.NumForcedGC)}, {"NumGoroutine", uint64(n)},
	} {
		b = append(b, v.name...)
		b = append(b, ' ')
		b = strconv.AppendUint(b, v.value, 10)
		b = append(b, '\n')
	}
	os.Stdout.Write(b)
}

var samples []metrics.Sample

// printMetrics prints all of runtime/metrics, a histogram as its counts.
func printMetrics() {
	if samples == nil {
		for _, d := range metrics.All() {
			samples = append(samples, metrics.Sample{Name: d.Name})
		}
	}
	metrics.Read(samples)
	b := answer[:0]
	for _, s := range samples {
		b = append(b, s.Name...)
		b = append(b, ' ')
		switch s.Value.Kind() {
		case metrics.KindUint64:
			b = strconv.AppendUint(b, s.Value.Uint64(), 10)
		case metrics.KindFloat64:
			b = strconv.AppendFloat(b, s.Value.Float64(), 'g', -1, 64)
		case metrics.KindFloat64Histogram:
			h := s.Value.Float64Histogram()
			for i, n := range h.Counts {
				if n != 0 {
					b = strconv.AppendFloat(b, h.Buckets[i], 'g', -1, 64)
					b = append(b, ':')
					b = strconv.AppendUint(b, n, 10)
					b = append(b, ',')
				}
			}
			b = append(b, 'n')
			b = strconv.AppendInt(b, int64(len(h.Counts)), 10)
		}
		b = append(b, '\n')
	}
	os.Stdout.Write(b)
}

type site struct {
	Stack         []uint64
	Allocs, Frees int64
	AllocBytes    int64
}

// printProfile prints runtime.MemProfile as JSON. It stops sampling first: what
// it allocates itself must not be in the profile that is read from outside.
func printProfile() {
	rate := runtime.MemProfileRate
	runtime.MemProfileRate = 0
	n, ok := runtime.MemProfile(records, true)
	if !ok {
		fmt.Println("too many records:", n)
		return
	}
	var all []site
	for _, r := range records[:n] {
		s := site{Allocs: r.AllocObjects, Frees: r.FreeObjects, AllocBytes: r.AllocBytes}
		for _, pc := range r.Stack() {
			s.Stack = append(s.Stack, uint64(pc))
		}
		all = append(all, s)
	}
	json.NewEncoder(os.Stdout).Encode(all)
	runtime.MemProfileRate = rate
}
