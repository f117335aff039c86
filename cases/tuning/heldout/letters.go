package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
)

const (
	mailings = 18
	presses  = 2 // mailings at work at a time
	pauses   = 3000
)

// letters prints mailings: each is written letter by letter into one growing body, which
// is checked, packed and let go. Between two waves of them single letters are looked up.
func letters() error {
	kept := map[int]string{}
	for wave := range mailings / (2 * presses) {
		var all sync.WaitGroup
		failed := make([]error, 2*presses)
		gate := make(chan struct{}, presses)
		for n := range failed {
			all.Go(func() {
				gate <- struct{}{}
				defer func() { <-gate }()
				failed[n] = mailing(uint64(wave*len(failed) + n))
			})
		}
		all.Wait()
		for _, err := range failed {
			if err != nil {
				return err
			}
		}
		for n := range pauses {
			kept[(wave*pauses+n)%4000] = letter(rand.New(rand.NewPCG(uint64(n), 3)), n)
		}
		fmt.Println("wave", wave, "printed,", len(kept), "letters kept")
	}
	return nil
}

// mailing appends 8,000 to 40,000 letters to one body.
func mailing(seed uint64) error {
	rng := rand.New(rand.NewPCG(seed, 13))
	var body []byte
	for n := range 8000 + rng.IntN(32000) {
		body = append(body, letter(rng, n)...)
	}
	if !bytes.HasPrefix(body, []byte("Dear reader")) {
		return fmt.Errorf("mailing %d begins with %q", seed, body[:min(20, len(body))])
	}
	packed, err := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed)
	if err != nil {
		return err
	}
	if _, err := packed.Write(body); err != nil {
		return err
	}
	return packed.Close()
}

var words = []string{"offer", "garden", "harbour", "winter", "ticket", "letter", "museum", "candle", "window", "river"}

// letter is 400 to 1,200 bytes of text.
func letter(rng *rand.Rand, n int) string {
	b := fmt.Appendf(nil, "Dear reader %d,\n", n)
	for size := 400 + rng.IntN(800); len(b) < size; {
		b = append(append(b, words[rng.IntN(len(words))]...), ' ')
	}
	return string(b)
}
