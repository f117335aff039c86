// Stackshapes parks goroutines that hold memory in every way that a stack can, and
// some that hold it no more though its address still lies in a dead word. It prints
// what it has made, and for each line read collects the garbage and prints what the
// runtime calls live. It must be started with GOGC=off.
package main

import (
	"bufio"
	"encoding/json"
	"os"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"unsafe"
)

// size tells what the goroutines hold from all else in the heap; each shape has its
// own, so that a test can say which is lost.
func size(shape int) int { return 1<<20 + shape<<16 }

type node struct {
	next *node
	body []byte
}

var (
	parked  sync.WaitGroup
	never   = make(chan int)
	unheard = make(chan int)
	fifo    [2]int

	deadAt, deadSlots uintptr // no pointers: they hold nothing
)

// park tells that the goroutine stands, and stands.
func park() {
	parked.Done()
	<-never
}

//go:noinline
func use(p any) { runtime.KeepAlive(p) }

//go:noinline
func touch(p []byte) byte { return p[0] }

// The shapes, by number. Each goroutine makes its own body, parks, and uses it.
var shapes = []func(n int){
	func(n int) { b := make([]byte, n); park(); touch(b) },                          // a local
	func(n int) { argument(make([]byte, n)) },                                       // an argument in a register
	func(n int) { onStack([8]int{}, [8]int{}, make([]byte, n)) },                    // an argument on the stack
	func(n int) { var bs [4][]byte; fill(&bs, n); park(); use(len(bs[2])) },         // a variable with an address
	func(n int) { b := make([]byte, n); func() { park(); touch(b) }() },             // a closure that is inlined
	func(n int) { b := make([]byte, n); f := func() { park(); touch(b) }; call(f) }, // a closure on the stack
	func(n int) { b := make([]byte, n); defer func() { touch(b) }(); park() },       // an open-coded defer
	func(n int) { deferred(make([]byte, n)) },                                       // a defer record on the stack
	func(n int) {
		for i := range []int{1} {
			b := make([]byte, n)
			defer use(b[i:])
		}
		park()
	}, // one in the heap
	func(n int) { panicking(make([]byte, n)) },                                          // a panic's value
	func(n int) { reflected(make([]byte, n)) },                                          // what reflect calls
	func(n int) { made(make([]byte, n)) },                                               // what reflect made
	func(n int) { holder(make([]byte, n)).method() },                                    // a receiver
	func(n int) { f := holder(make([]byte, n)).method; call(f) },                        // a method value
	func(n int) { var l node; l.next = &node{body: make([]byte, n)}; p := &l; walk(p) }, // a list that begins on the stack
	func(n int) { var i any = make([]byte, n); park(); use(i) },                         // an interface
	func(n int) { c := make(chan []byte); parked.Done(); c <- make([]byte, n) },         // what is being sent
	func(n int) {
		b := make([]byte, n)
		select {
		case unheard <- parkedNow():
		case <-never:
		}
		touch(b)
	},
	func(n int) { b := make([]byte, n); deep(200, b) },        // many frames down
	func(n int) { b := make([]byte, n); reading(); touch(b) }, // in a system call
	func(n int) { m := map[string][]byte{"a": make([]byte, n)}; park(); use(m["a"]) },
	func(n int) {
		var mu sync.Mutex
		b := make([]byte, n)
		mu.Lock()
		parked.Done()
		mu.Lock()
		touch(b)
	},
	func(n int) { go spinning(make([]byte, n)) }, // interrupted anywhere
}

func argument(b []byte) { park(); touch(b) }

//go:noinline
func onStack(a, c [8]int, b []byte) int { park(); return a[0] + c[1] + int(touch(b)) }

//go:noinline
func fill(bs *[4][]byte, n int) { bs[2] = make([]byte, n) }

//go:noinline
func call(f func()) { f() }

func deferred(b []byte) {
	// Nine are too many to be open-coded.
	defer use(b)
	defer use(1)
	defer use(2)
	defer use(3)
	defer use(4)
	defer use(5)
	defer use(6)
	defer use(7)
	defer use(8)
	park()
}

func panicking(b []byte) {
	defer func() { park(); recover() }()
	panic(b)
}

func reflected(b []byte) {
	reflect.ValueOf(func(b []byte) { park(); touch(b) }).Call([]reflect.Value{reflect.ValueOf(b)})
}

func made(b []byte) {
	f := reflect.MakeFunc(reflect.TypeOf(func([]byte) {}), func(args []reflect.Value) []reflect.Value {
		park()
		use(args[0].Len())
		return nil
	}).Interface().(func([]byte))
	f(b)
}

type holder []byte

//go:noinline
func (h holder) method() { park(); touch(h) }

//go:noinline
func walk(n *node) {
	park()
	for ; n != nil; n = n.next {
		use(len(n.body))
	}
}

func parkedNow() int { parked.Done(); return 0 }

//go:noinline
func deep(n int, b []byte) byte {
	if n == 0 {
		park()
		return touch(b)
	}
	return deep(n-1, b) + 1
}

func reading() {
	parked.Done()
	var b [1]byte
	syscall.Read(fifo[0], b[:])
}

var stop bool

func spinning(b []byte) {
	parked.Done()
	for n := 0; !stop; n++ {
		b[n%len(b)]++
	}
}

//go:noinline
func grow() { var b [16 << 10]byte; fillAll(&b) }

//go:noinline
func fillAll(b *[16 << 10]byte) { b[len(os.Args)] = 1 }

// dead parks with the address of what it made in a word that is dead by then.
//
//go:noinline
func dead(n int) {
	grow() // so that the stack stays where it is
	var mark [1]byte
	deadSlots = uintptr(unsafe.Pointer(&mark))
	b := make([]byte, n)
	touch(b) // b must be kept over this call: on the stack
	touch(b)
	deadAt = uintptr(unsafe.Pointer(&b[0]))
	park()
	use(mark[0])
}

// stands says whether the goroutine of a function waits for a channel.
func stands(function string) bool {
	buf := make([]byte, 1<<20)
	for _, g := range strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
		if head, _, _ := strings.Cut(g, "\n"); strings.Contains(g, function) && strings.Contains(head, "[chan receive") {
			return true
		}
	}
	return false
}

func main() {
	if err := syscall.Pipe(fifo[:]); err != nil {
		panic(err)
	}
	for i, shape := range shapes {
		parked.Add(1)
		go shape(size(i))
	}
	parked.Add(1)
	go dead(size(len(shapes)))
	parked.Wait()
	for !stands("main.dead(") {
		runtime.Gosched()
	}
	out, in := json.NewEncoder(os.Stdout), bufio.NewScanner(os.Stdin)
	out.Encode(map[string]uint64{"Shapes": uint64(len(shapes)), "Dead": uint64(deadAt), "Near": uint64(deadSlots)})
	for in.Scan() {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		out.Encode(map[string]uint64{"Bytes": m.HeapAlloc})
	}
}
