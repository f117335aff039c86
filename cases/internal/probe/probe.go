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
	"context"
	"encoding/json"
	"net/http"
	"net/http/pprof"
	"runtime"
	"runtime/metrics"
	"unsafe"

	"github.com/highwater-go/highwater/cases/internal/program"
)

// HeapAddress names the address of an object in the Go heap among the metrics.
// Since Go 1.26 the heap starts at a random address, which only the program
// itself can tell without a debugger.
const HeapAddress = "/probe/heap:address"

var anObject = new([64 << 10]byte)

// Start answers on a loopback address from now on, until ctx ends; an empty
// address is no probe.
func Start(ctx context.Context, address string) error {
	if address == "" {
		return nil
	}
	l, err := program.Listen(address)
	if err != nil {
		return err
	}
	context.AfterFunc(ctx, func() { l.Close() })
	go http.Serve(l, handler()) // ends with the listener
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
