package gomem_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// counts is one bucket's counts, by stack and size.
type counts map[string][2]uint64

// saidProfile is the program's own runtime.MemProfile.
func (p *target) saidProfile() counts {
	p.t.Helper()
	var sites []struct {
		Stack              []uint64
		Allocs, Frees      uint64
		AllocBytes, unused uint64
	}
	if err := json.Unmarshal([]byte(p.ask("profile")[0]), &sites); err != nil {
		p.t.Fatal(err)
	}
	all := make(counts)
	for _, s := range sites {
		if s.Allocs > 0 {
			all.add(s.Stack, s.AllocBytes/s.Allocs, s.Allocs, s.Frees)
		}
	}
	return all
}

// add counts under the first 32 frames, all that a runtime.MemProfileRecord has.
func (c counts) add(stack []uint64, size, allocs, frees uint64) {
	key := fmt.Sprintf("%d bytes at %x", size, stack[:min(len(stack), 32)])
	n := c[key]
	c[key] = [2]uint64{n[0] + allocs, n[1] + frees}
}

// seenProfile is what was read, published and now.
func (p *target) seenProfile() (published, now counts) {
	p.t.Helper()
	var prof sample.HeapProfile
	if err := p.stats.Profile(&prof); err != nil {
		p.t.Fatal(err)
	}
	buckets := p.stats.Buckets(0)
	if len(buckets) != len(prof.Counts) {
		p.t.Fatalf("%d buckets, %d counts", len(buckets), len(prof.Counts))
	}
	published, now = make(counts), make(counts)
	for i, n := range prof.Counts {
		b := buckets[i]
		if n.PubAllocs > 0 {
			published.add(b.Stack, uint64(b.Size), n.PubAllocs, n.PubFrees)
		}
		if n.NowAllocs > 0 {
			now.add(b.Stack, uint64(b.Size), n.NowAllocs, n.NowFrees)
		}
	}
	return published, now
}

func TestHeapProfileIsTheProgramsOwnSampleForSample(t *testing.T) {
	for _, b := range matrix() {
		t.Run(b.String(), func(t *testing.T) {
			p := start(t, b)
			p.ask("nogc")
			p.ask("rate 1")
			p.ask("allocate 3000")
			p.ask("goroutines 5")
			before := p.sameProfile("before a collection", 1)
			p.ask("sites 500")
			p.ask("rate 0")
			p.ask("gc")
			after := p.sameProfile("two collections later", 500)
			if len(after) < len(before)+400 {
				t.Errorf("%d sites before, %d after 500 were made", len(before), len(after))
			}
			p.ask("drop")
			p.ask("gc")
			p.sameProfile("after the memory was freed", 500)
		})
	}
}

// sameProfile compares the published view with the program's own.
func (p *target) sameProfile(when string, atLeast int) counts {
	p.t.Helper()
	said := p.saidProfile()
	published, now := p.seenProfile()
	if !maps.Equal(said, published) {
		p.t.Errorf("%s: the program says %d sites, %d were read; they differ in %v", when, len(said), len(published), differing(said, published))
	}
	if len(said) < atLeast {
		p.t.Errorf("%s: only %d sites", when, len(said))
	}
	for key, n := range published {
		if now[key][0] < n[0] {
			p.t.Errorf("%s: %d published, %d now at %s", when, n[0], now[key][0], key)
		}
	}
	return said
}

func differing(a, b counts) []string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(a)) {
		if a[key] != b[key] && len(out) < 5 {
			out = append(out, fmt.Sprintf("%s: %d, %d", key, a[key], b[key]))
		}
	}
	return out
}

func TestNowShowsWhatTheProgramsOwnProfileDoesNotYet(t *testing.T) {
	p := start(t, newest)
	p.ask("nogc")
	p.ask("rate 1")
	p.ask("gc") // from here on something is published
	p.ask("big %d", 10<<20)
	p.ask("rate 0")

	big := func(c counts) (n uint64) {
		for key, v := range c {
			var size uint64
			fmt.Sscan(key, &size)
			if size == 10<<20 {
				n += v[0] - v[1]
			}
		}
		return n
	}
	if published, now := p.seenProfile(); big(published) != 0 || big(now) != 1 {
		t.Errorf("before a collection: %d published, %d now", big(published), big(now))
	}
	p.ask("gc")
	if published, now := p.seenProfile(); big(published) != 1 || big(now) != 1 {
		t.Errorf("after a collection: %d published, %d now", big(published), big(now))
	}
}

func TestBucketsKeepTheirIndex(t *testing.T) {
	p := start(t, newest)
	p.ask("nogc")
	p.ask("rate 1")
	p.ask("sites 50")
	p.seenProfile()
	before := slices.Clone(p.stats.Buckets(0))
	p.ask("sites 300")
	p.seenProfile()
	after := p.stats.Buckets(0)
	for i, b := range before {
		if b.Size != after[i].Size || !slices.Equal(b.Stack, after[i].Stack) {
			t.Fatalf("bucket %d was %v, is %v", i, b, after[i])
		}
	}
	if fresh := p.stats.Buckets(len(before)); len(fresh) < 250 || len(fresh) != len(after)-len(before) {
		t.Errorf("%d new buckets for 250 new sites", len(fresh))
	}
	if p.stats.Buckets(len(after)+1) != nil && len(p.stats.Buckets(len(after)+1)) != 0 {
		t.Error("buckets beyond the last")
	}
}

func TestBeforeAnyCollectionThePublishedProfileShowsAll(t *testing.T) {
	for _, b := range builds() {
		t.Run(b.String(), func(t *testing.T) {
			p := launch(t, executable(t, b), "GOGC=off")
			p.ask("rate 1")
			p.ask("sites 20")
			p.ask("rate 0")
			p.attach()
			published, now := p.seenProfile()
			if len(now) < 20 || !maps.Equal(published, now) {
				t.Errorf("%d sites published, %d now", len(published), len(now))
			}
			p.sameProfile("after the program read it itself", 20)
		})
	}
}

// TestCountsOnlyGrowWhileCollectionsEnd reads the profile of a program that
// publishes a cycle every few milliseconds.
func TestCountsOnlyGrowWhileCollectionsEnd(t *testing.T) {
	for _, b := range builds() {
		t.Run(b.String(), func(t *testing.T) {
			p := start(t, b, "GOGC=20")
			p.ask("rate 1")
			p.ask("sites 2000") // so that publishing takes a while
			p.ask("busy 2")
			var last, prof sample.HeapProfile
			cycles := 0
			for polls := 0; cycles < 10 || polls < 200; polls++ {
				if err := p.stats.Profile(&prof); err != nil {
					t.Fatal(err)
				}
				for i, was := range last.Counts {
					is := prof.Counts[i]
					if is.PubAllocs < was.PubAllocs || is.PubFrees < was.PubFrees || is.NowAllocs < was.NowAllocs || is.NowFrees < was.NowFrees {
						t.Fatalf("cycle %d to %d: %+v became %+v", last.Cycle, prof.Cycle, was, is)
					}
					if is.NowFrees > is.NowAllocs || is.PubFrees > is.PubAllocs {
						t.Fatalf("cycle %d: more frees than allocations: %+v", prof.Cycle, is)
					}
				}
				if prof.Cycle != last.Cycle {
					cycles++
				}
				last.Cycle, last.Counts = prof.Cycle, append(last.Counts[:0], prof.Counts...)
			}
		})
	}
}

func TestStacksOfAThousandFramesAreRead(t *testing.T) {
	for _, b := range slices.DeleteFunc(builds(), func(b build) bool { return b.toolchain < "go1.23" }) { // GODEBUG=profstackdepth came with it
		t.Run(b.String(), func(t *testing.T) {
			p := start(t, b, "GODEBUG=profstackdepth=1020") // by 1024 Go 1.26 and 1.27 crash ("bad profile stack count")
			p.ask("rate 1")
			p.ask("deep 1100")
			p.ask("rate 0")
			p.seenProfile()
			deepest := 0
			for _, b := range p.stats.Buckets(0) {
				g := sample.GoroutineGroup{Stack: b.Stack}
				if b.Size == 896 && p.names(g, "main.buried") { // the size class of 777
					deepest = max(deepest, len(b.Stack))
				}
			}
			if deepest < 1000 {
				t.Errorf("the stack of a site under 1100 frames has %d", deepest)
			}
		})
	}
}

// overlay is a memory of which one word reads differently.
type overlay struct {
	io.ReaderAt
	at   int64
	word uint64
}

func (o overlay) ReadAt(p []byte, off int64) (int, error) {
	n, err := o.ReaderAt.ReadAt(p, off)
	for i := range 8 {
		if k := o.at + int64(i) - off; k >= 0 && k < int64(n) {
			p[k] = byte(o.word >> (8 * i))
		}
	}
	return n, err
}
