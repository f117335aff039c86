// Hostlimit suggests words to who types. To save the collector's time it is told to let the
// heap grow, until it is four fifths of the machine's memory: that was right when the service
// had a machine of its own, and in a container it looks at the same number of the host.
// Repaired, it is told of what the container has, by -soft.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"log"
	"os"
	"runtime/debug"
	"sort"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

// hostMemory is what the machine has, in bytes.
func hostMemory() (int64, error) {
	file, err := os.Open("/proc/meminfo")
	if err != nil {
		return 0, err
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var kib int64
		if n, _ := fmt.Sscanf(lines.Text(), "MemTotal: %d kB", &kib); n == 1 {
			return kib << 10, nil
		}
	}
	return 0, fmt.Errorf("/proc/meminfo has no MemTotal")
}

// tune sets the collector.
func tune(limit int64) {
	debug.SetMemoryLimit(limit) // truth: sets
	debug.SetGCPercent(-1)      // truth: off
}

type word struct {
	text  string
	uses  int
	after [24]int32 // words that often follow
}

type dictionary struct{ words []*word }

// load makes a dictionary of total bytes.
func load(total int64) *dictionary {
	d := &dictionary{}
	n := int(total / 160)
	for i := range n {
		w := &word{text: fmt.Sprintf("word%08d", i), uses: i * 31 % 1000} // truth: live
		for k := range w.after {
			w.after[k] = int32((i*7 + k*k) % n)
		}
		d.words = append(d.words, w) // truth: live
	}
	return d
}

// suggest gives the best words after what was typed, from a list of size bytes.
func (d *dictionary) suggest(typed, size int) string {
	list := make([]*word, 0, size/8) // truth: garbage
	for at := typed % len(d.words); len(list) < size/8-24; at = (at*31 + 7) % len(d.words) {
		for _, n := range d.words[at].after {
			list = append(list, d.words[n])
		}
	}
	best := list[:min(len(list), 64)]
	sort.Slice(best, func(a, b int) bool { return best[a].uses > best[b].uses })
	return best[0].text
}

func main() {
	soft := flag.Int64("soft", 0, "soft memory limit of the repaired program, in bytes")
	f := frame.Parse()
	host, err := hostMemory()
	if err != nil {
		log.Fatal(err)
	}
	limit := host / 5 * 4
	if f.Repaired && *soft > 0 {
		limit = *soft
	}
	tune(limit)
	d := load(f.Total)
	f.Total = 0
	letters := 0
	f.Each(func(i int) { letters += len(d.suggest(i*7919, f.Unit)) })
	f.Stay()
	log.Print(letters)
}
