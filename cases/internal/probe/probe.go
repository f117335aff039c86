// Package probe lets a program under cases/ be asked about itself: its pprof
// profiles and its runtime/metrics, over HTTP on loopback. The truth about a
// fault is measured by it, not by the tool that the cases are for.
//
//	GET /debug/pprof/...    net/http/pprof
//	GET /debug/metrics      runtime/metrics as one JSON object; histograms left out,
//	                        HeapAddress added
//	GET /debug/gc           runs a collection, then as /debug/metrics
package probe

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"runtime"
	"runtime/metrics"
	"unsafe"
)

// HeapAddress names the address of an object in the Go heap among the metrics.
// Since Go 1.26 the heap starts at a random address, which only the program
// itself can tell without a debugger.
const HeapAddress = "/probe/heap:address"

var anObject = new([64 << 10]byte)

// Serve answers on address until the listener is closed; an empty address is
// no probe, and returns nil. It refuses what is not loopback.
func Serve(address string) (net.Listener, error) {
	if address == "" {
		return nil, nil
	}
	if err := Loopback(address); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	go http.Serve(l, handler()) // ends with the listener
	return l, nil
}

// Loopback is an error unless the address is of this machine alone.
func Loopback(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("%s is not a loopback address; try 127.0.0.1:0", address)
	}
	return nil
}

func handler() http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("/debug/pprof/", pprof.Index)
	m.HandleFunc("/debug/metrics", func(w http.ResponseWriter, _ *http.Request) { write(w) })
	m.HandleFunc("/debug/gc", func(w http.ResponseWriter, _ *http.Request) {
		runtime.GC()
		write(w)
	})
	return m
}

// write reads every metric that is one number.
func write(w http.ResponseWriter) {
	var samples []metrics.Sample
	for _, d := range metrics.All() {
		if d.Kind == metrics.KindUint64 || d.Kind == metrics.KindFloat64 {
			samples = append(samples, metrics.Sample{Name: d.Name})
		}
	}
	metrics.Read(samples)
	values := map[string]float64{HeapAddress: float64(uintptr(unsafe.Pointer(anObject)))} // under 1<<47: exact
	for _, s := range samples {
		switch s.Value.Kind() {
		case metrics.KindUint64:
			values[s.Name] = float64(s.Value.Uint64())
		case metrics.KindFloat64:
			values[s.Name] = s.Value.Float64()
		}
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(values)
}
