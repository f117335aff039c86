// Profiled is a program that offers of itself what highwater imports, and that
// any Go from 1.20 on builds. It remembers 2 MiB a round and makes as much
// garbage, which collections of its own free; then it does what its flags say.
package main

import (
	"flag"
	"fmt"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"sync"
	"time"
)

var (
	memory  [][]byte
	scratch []byte
)

// remember is the fault.
func remember() {
	kept := make([]byte, 8<<10)
	kept[0], kept[4<<10] = 1, 1
	memory = append(memory, kept)
}

func waste() {
	scratch = make([]byte, 8<<10)
}

func main() {
	rounds := flag.Int("rounds", 12, "rounds of work")
	dir := flag.String("profiles", "", "write a heap profile into this directory after each round")
	cpu := flag.String("cpu", "", "write a CPU profile")
	address := flag.String("address", "", "serve net/http/pprof, a round before each answer, and write the address to this file")
	sleepers := flag.Int("goroutines", 0, "goroutines that wait for the end")
	wait := flag.Bool("wait", false, "say ready, and end after a minute")
	flag.Parse()
	if *cpu != "" {
		pprof.StartCPUProfile(create(*cpu))
		defer pprof.StopCPUProfile()
	}
	stop := make(chan struct{})
	for i := 0; i < *sleepers; i++ {
		go sleep(stop)
	}
	for n := 0; n < *rounds; n++ {
		round()
		if *dir != "" {
			write(filepath.Join(*dir, fmt.Sprintf("heap.%02d.pb.gz", n)))
		}
	}
	if *address != "" {
		serve(*address)
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	fmt.Println("collections", m.NumGC)
	if *wait {
		fmt.Println("ready")
		time.Sleep(time.Minute)
	}
}

func sleep(stop chan struct{}) { <-stop }

func round() {
	for i := 0; i < 256; i++ {
		remember()
		waste()
	}
	runtime.GC() // twice: a profile is of the collection before the last
	runtime.GC()
}

func write(path string) {
	f := create(path)
	if err := pprof.WriteHeapProfile(f); err != nil {
		panic(err)
	}
	f.Close()
}

func create(path string) *os.File {
	f, err := os.Create(path)
	if err != nil {
		panic(err)
	}
	return f
}

// serve answers eleven times and dies at the twelfth.
func serve(file string) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	var one sync.Mutex
	answers := 0
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		one.Lock()
		defer one.Unlock()
		round()
		if answers++; answers == 12 {
			os.Exit(0)
		}
		http.DefaultServeMux.ServeHTTP(w, r)
	})
	if err := os.WriteFile(file+".new", []byte(listener.Addr().String()), 0o644); err != nil {
		panic(err)
	}
	os.Rename(file+".new", file)
	http.Serve(listener, handler)
}
