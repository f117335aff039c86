// Anything stands for every program that a printed command names. It keeps a little, makes garbage, answers on the
// port of ANYTHING_PORT, with metrics and profiles, says ready, and ends well after ANYTHING_FOR. Called "load" it
// asks that port for an answer, and ends.
package main

import (
	"fmt"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"
)

// kept is live all the time.
var kept [][]byte

var requests atomic.Int64

func main() {
	address := "127.0.0.1:" + os.Getenv("ANYTHING_PORT")
	if strings.Contains(filepath.Base(os.Args[0]), "load") {
		for range 20 {
			if answer, err := http.Get("http://" + address + "/"); err == nil {
				answer.Body.Close()
			}
		}
		return
	}
	length, err := time.ParseDuration(os.Getenv("ANYTHING_FOR"))
	if err != nil {
		fmt.Fprintln(os.Stderr, "anything: ANYTHING_FOR:", err)
		os.Exit(1)
	}
	for range 512 {
		kept = append(kept, make([]byte, 16<<10))
	}
	if l, err := net.Listen("tcp", address); err == nil { // another of the same command may have it
		http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { requests.Add(1) })
		http.HandleFunc("/metrics", func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, "# TYPE requests_total counter\nrequests_total %d\n", requests.Load())
		})
		go func() { _ = http.Serve(l, nil) }()
	}
	fmt.Println("ready")
	for end := time.Now().Add(length); time.Now().Before(end); {
		garbage(64)
		time.Sleep(2 * time.Millisecond) // a program that works a little, and leaves the processor to others
	}
}

func garbage(n int) {
	for range n {
		waste = make([]byte, 16<<10)
	}
}

var waste []byte
