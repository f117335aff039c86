// Gcpercent lets the heap grow to six times what is live before the collector
// starts, for speed, although its limit has room for a half of that. Repaired, it
// also tells the collector how much there is, by -soft.
package main

import (
	"flag"
	"runtime/debug"
	"strings"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type place struct{ name, country string }

type atlas struct{ byName map[string]*place }

func main() {
	soft := flag.Int64("soft", 0, "soft memory limit of the repaired program, in bytes")
	f := frame.Parse()
	debug.SetGCPercent(500) // truth: sets
	if f.Repaired && *soft > 0 {
		debug.SetMemoryLimit(*soft)
	}
	a := load(f.Total)
	f.Total = 0
	found := 0
	f.Each(func(i int) { found += len(a.search(i, f.Unit)) })
	f.Stay()
}

// load makes places of total bytes in all, at some 512 each.
func load(total int64) *atlas {
	a := &atlas{byName: map[string]*place{}}
	for i := range int(total / 512) {
		name := strings.Repeat(string(rune('a'+i%26)), 190) + string(rune(0x4e00+i%20000)) + string(rune(0x4e00+i/20000)) // truth: live
		a.byName[name] = &place{name, strings.Clone(name[:120])}                                                          // truth: live
	}
	return a
}

// search copies what it finds into a page of size bytes.
func (a *atlas) search(i, size int) string {
	var page strings.Builder
	page.Grow(size) // truth: garbage
	for name, p := range a.byName {
		if page.Len()+len(name)+len(p.country) > size {
			break
		}
		page.WriteString(name)
		page.WriteString(p.country)
	}
	return page.String()
}
