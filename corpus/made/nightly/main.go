// Nightly makes a report every other second: it loads all bookings, sorts them,
// writes their sums and lets go of them, within a room that is large enough. No
// fault, and it has no faulty form.
package main

import (
	"fmt"
	"io"
	"sort"
	"time"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type booking struct {
	account int
	cents   int64
	text    string
}

func main() {
	f := frame.Parse()
	for !f.Over() {
		report(io.Discard, load(int(f.Total/128)))
		for next := time.Now().Add(2 * time.Second); !f.Over() && time.Now().Before(next); {
			time.Sleep(20 * time.Millisecond)
		}
	}
}

// load makes n bookings, of some 128 bytes each.
func load(n int) []*booking {
	all := make([]*booking, 0, n)
	for i := range n {
		text := fmt.Sprintf("standing order %012d, for the rent of the second month", i)
		all = append(all, &booking{i * 7919 % 5000, int64(i%1000) * 25, text}) // truth: allocates
	}
	return all
}

func report(to io.Writer, all []*booking) {
	sort.Slice(all, func(i, j int) bool { return all[i].account < all[j].account })
	for i := 0; i < len(all); {
		account, sum := all[i].account, int64(0)
		for ; i < len(all) && all[i].account == account; i++ {
			sum += all[i].cents
		}
		fmt.Fprintf(to, "%d;%d\n", account, sum)
	}
}
