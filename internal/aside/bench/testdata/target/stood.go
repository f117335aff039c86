package main

import (
	"fmt"
	"net/http"
	"time"
)

// tellStood ticks every millisecond, and says over HTTP the longest time between two
// ticks since it was asked last, in nanoseconds: how long this program stood still.
func tellStood() {
	asked := make(chan chan time.Duration)
	http.HandleFunc("/stood", func(w http.ResponseWriter, _ *http.Request) {
		answer := make(chan time.Duration)
		asked <- answer
		fmt.Fprint(w, (<-answer).Nanoseconds())
	})
	go func() {
		longest := time.Duration(0)
		for last := time.Now(); ; {
			time.Sleep(time.Millisecond)
			longest = max(longest, time.Since(last))
			last = time.Now()
			select {
			case answer := <-asked:
				answer <- longest
				longest = 0
			default:
			}
		}
	}()
}
