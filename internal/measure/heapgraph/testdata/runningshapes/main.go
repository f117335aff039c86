// Runningshapes runs goroutines that never stand still, each with a body that nothing
// but its stack and its thread's registers hold. With GOGC=off it runs one alone, which
// has the address of its body in a dead word of its stack, and nothing else has.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

// size tells the bodies from all else in the heap and from each other.
func size(shape int) int { return 320<<10 + shape<<13 }

// large has pointers and is moved by barriers as a whole.
type large struct {
	body  []byte
	left  *large
	right *large
	more  [20]*int
}

var (
	stop  int32
	sink  []*large
	table map[string]*large
	mu    sync.Mutex
)

func stopped() bool { return atomic.LoadInt32(&stop) != 0 }

//go:noinline
func touch(b []byte) byte { return b[len(b)/2] }

// Work that needs no body, by what it leads through.
var works = []func(n int){
	func(n int) { // slices that grow
		var all []*large
		for i := 0; i < 100; i++ {
			all = append(all, &large{})
		}
		mu.Lock()
		sink = all
		mu.Unlock()
	},
	func(n int) { // a map, its growth, and barriers
		mu.Lock()
		defer mu.Unlock()
		if table == nil || len(table) > 300 {
			table = make(map[string]*large)
		}
		table[fmt.Sprint("key ", n)] = &large{left: table["key 1"]}
		delete(table, fmt.Sprint("key ", n-100))
	},
	func(n int) { // values copied and zeroed in the heap
		l := make([]large, 10)
		for i := range l {
			l[i] = large{left: &l[0]}
			l[(i+1)%len(l)] = l[i]
		}
		for i := range l {
			l[i] = large{}
		}
		runtime.KeepAlive(l)
	},
	func(n int) { // interfaces, closures, sorting
		words := strings.Fields("these are some words to be put in order")
		sort.Slice(words, func(i, k int) bool { return words[i] < words[k] })
		_ = fmt.Sprintf("%v %T", words, any(n))
	},
	func(n int) { // channels
		c := make(chan []int, 1)
		c <- make([]int, 10)
		select {
		case x := <-c:
			_ = x
		default:
		}
	},
	func(n int) { deepen(n % 300) }, // a stack that moves
	func(n int) { // deferred calls and a panic
		defer func() { recover() }()
		defer runtime.KeepAlive(n)
		if n%10 == 0 {
			panic(n)
		}
	},
	func(n int) { _ = time.Now().UnixNano(); runtime.Gosched() },
	func(n int) { // nothing but computing
		for i := 0; i < 1000; i++ {
			n = n*31 + i
		}
		atomic.AddInt64(&computed, int64(n))
	},
}

var computed int64

//go:noinline
func deepen(n int) int {
	var local [64]int
	local[n%64] = n
	if n > 0 {
		return deepen(n-1) + local[(n+1)%64]
	}
	return 0
}

// Ways to keep a body over some work.
var ways = []func(b []byte, work func(int)){
	func(b []byte, work func(int)) { // an outer frame has it
		for n := 0; !stopped(); n++ {
			work(n)
		}
		touch(b)
	},
	func(b []byte, work func(int)) { // it is handed down and back: only what runs has it
		for n := 0; !stopped(); n++ {
			b = down(b, 5, n, work)
		}
		touch(b)
	},
	func(b []byte, work func(int)) { // it moves from value to value, and to a copy now and then
		for n := 0; !stopped(); n++ {
			l := &large{body: b}
			b = nil
			work(n)
			next := large{left: l}
			l = nil
			b = next.left.body
			if n%100 == 0 {
				b = append([]byte(nil), b...)
			}
		}
		touch(b)
	},
	func(b []byte, work func(int)) { // through a channel that nobody else has
		c := make(chan []byte, 1)
		for n := 0; !stopped(); n++ {
			c <- b
			b = nil
			work(n)
			b = <-c
		}
		touch(b)
	},
}

//go:noinline
func down(b []byte, depth, n int, work func(int)) []byte {
	if depth == 0 {
		work(n)
		return b
	}
	return down(b, depth-1, n, work)[:len(b)]
}

var deadAt uintptr // no pointer: it holds nothing

// dead computes with the address of what it made in a word that is dead by then.
//
//go:noinline
func dead(n int, ready chan<- bool) {
	b := make([]byte, n)
	touch(b) // b must be kept over this call: on the stack
	touch(b)
	deadAt = uintptr(unsafe.Pointer(&b[0]))
	_ = fmt.Sprint("other values", n, "for the registers")
	ready <- true
	compute()
}

//go:noinline
func compute() {
	for n := 0; !stopped(); n++ {
		atomic.AddInt64(&computed, int64(n))
	}
}

func main() {
	runtime.GOMAXPROCS(4)
	ready := make(chan bool)
	shape := 0
	if debug.SetGCPercent(10) < 0 {
		ways = nil
		debug.SetGCPercent(-1)
	}
	for _, way := range ways {
		for _, work := range works {
			go func(b []byte, way func([]byte, func(int)), work func(int)) {
				ready <- true
				way(b, work)
			}(make([]byte, size(shape)), way, work)
			<-ready
			shape++
		}
	}
	if ways == nil {
		runtime.GC() // which makes what says where in the runtime's own large types pointers are
		go dead(size(0), ready)
		<-ready
	}
	json.NewEncoder(os.Stdout).Encode(map[string]uint64{"Shapes": uint64(shape), "Dead": uint64(deadAt)})
	bufio.NewScanner(os.Stdin).Scan()
	atomic.StoreInt32(&stop, 1)
}
