// Timers sets a timer of a day for every request, to log it should it hang, and
// does not stop it when the request is done. Repaired, it does.
package main

import (
	"log"
	"time"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type request struct {
	number int
	body   []byte
}

func main() {
	f := frame.Parse()
	f.Each(func(i int) { serve(read(i, f.Unit), f.Repaired) })
	f.Stay()
}

func read(i, size int) *request {
	return &request{i, frame.Touch(make([]byte, size))} // truth: allocates
}

func serve(r *request, repaired bool) {
	late := time.AfterFunc(24*time.Hour, func() { log.Print("still there: ", r.number, len(r.body)) }) // truth: keeps
	if repaired {
		late.Stop()
	}
}
