package gomem_test

import (
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/highwater-go/highwater/internal/eyes/gobin"
	"github.com/highwater-go/highwater/internal/eyes/goheap"
	"github.com/highwater-go/highwater/internal/eyes/gomem"
	"github.com/highwater-go/highwater/internal/eyes/gostats"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// image is a copy of a process's writable memory.
type image struct {
	segments []segment
	bin      *gobin.Binary
	bias     uint64
	pc, sp   uint64 // of a goroutine
}

type segment struct {
	start uint64
	data  []byte
}

// kernelPage is the smallest page that a kernel has.
const kernelPage = 4 << 10

var errUnmapped = errors.New("not mapped")

// takeImage copies what a small program has in memory.
func takeImage(t testing.TB) *image { return takeImageOf(t, newest) }

func takeImageOf(t testing.TB, b build) *image {
	t.Helper()
	p := start(t, b)
	p.ask("rate 1")
	p.ask("sites 30")
	p.ask("goroutines 3")
	p.ask("labels 3")
	p.ask("tree 50")
	if err := p.hold(); err != nil {
		t.Fatal(err)
	}
	img := &image{bin: p.bin, bias: p.bias}
	all, err := p.runtime.ReadGoroutines()
	if err != nil || len(all) == 0 {
		t.Fatalf("%d goroutines, %v", len(all), err)
	}
	img.pc, img.sp = all[0].PC, all[0].SP
	for _, m := range p.mappings() {
		if m.start >= 1<<47 {
			continue // the kernel's vsyscall page
		}
		pages := p.residentPages(m)
		for len(pages) > 0 {
			n := 1
			for n < len(pages) && pages[n] == pages[n-1]+kernelPage {
				n++
			}
			data := make([]byte, n*kernelPage)
			if _, err := p.mem.ReadAt(data, int64(pages[0])); err == nil {
				img.segments = append(img.segments, segment{pages[0], data})
			}
			pages = pages[n:]
		}
	}
	return img
}

func (img *image) ReadAt(p []byte, off int64) (int, error) {
	addr := uint64(off)
	i, ok := slices.BinarySearchFunc(img.segments, addr, func(s segment, addr uint64) int {
		switch {
		case s.start+uint64(len(s.data)) <= addr:
			return -1
		case s.start > addr:
			return 1
		}
		return 0
	})
	if !ok {
		return 0, errUnmapped
	}
	n := copy(p, img.segments[i].data[addr-img.segments[i].start:])
	if n < len(p) {
		m, err := img.ReadAt(p[n:], off+int64(n))
		return n + m, err
	}
	return n, nil
}

// mangler changes what is read of an image, as its script says: of every five
// bytes the first says how many reads to let pass, the next three where in the
// following read a word is changed, and the last how.
type mangler struct {
	img    *image
	script []byte
	pass   int
	bytes  int64
}

func (m *mangler) ReadAt(p []byte, off int64) (int, error) {
	m.bytes += int64(len(p)) + 100
	n, err := m.img.ReadAt(p, off)
	if m.pass--; m.pass >= 0 || len(m.script) < 5 || n < 8 {
		return n, err
	}
	s := m.script[:5]
	m.script = m.script[5:]
	m.pass = int(s[0])
	at := (int(s[1])<<16 | int(s[2])<<8 | int(s[3])) % (n / 8) * 8
	word := p[at : at+8]
	switch s[4] % 8 {
	case 0:
		clear(word)
	case 1:
		copy(word, "\xff\xff\xff\xff\xff\xff\xff\xff")
	case 2: // a circle
		for i := range word {
			word[i] = byte(off >> (8 * i))
		}
	case 3:
		copy(word, "\x00\x00\x40\x00\x00\x00\x00\x00")
	case 4:
		word[7] ^= 0x80
	default:
		word[s[1]%8] ^= s[4]
	}
	return n, err
}

// readEverything reads all there is, changed from some read on, and fails if that
// takes more than it may.
func (img *image) readEverything(t *testing.T, from uint16, script []byte) {
	m := &mangler{img: img, script: script, pass: int(from)}
	rt, err := gomem.Attach(m, img.bin, img.bias)
	if err != nil {
		return
	}
	stats, heap := gostats.New(rt), goheap.New(rt)
	var counters sample.Runtime
	var metrics sample.RuntimeMetrics
	var profile sample.HeapProfile
	for range 2 {
		stats.Counters(&counters)
		stats.Metrics(&metrics)
		if stats.Profile(&profile) == nil && len(stats.Buckets(0)) < len(profile.Counts) {
			t.Error("more counts than buckets")
		}
		stats.Goroutines()
		stats.GoroutinesAt(func(tid int) (pc, sp uint64, ok bool) { return img.pc, img.sp + uint64(8*tid), true })
		rt.Ranges(nil)
		heap.LiveObjects(t.Context(), stats)
	}
	img.readHeap(t, heap)
	if m.bytes > 1<<30 {
		t.Errorf("%d bytes were read of an image of a few MiB", m.bytes)
	}
}

// readHeap copies the heap and finds its objects, pointers and types, which must be
// what a graph is, whatever the memory holds.
func (img *image) readHeap(t *testing.T, heap *goheap.Heap) {
	c, err := heap.CopyHeap(t.Context(), 64*sample.MiB)
	if err != nil {
		return
	}
	o, err := c.Graph(t.Context(), nil, []goheap.Thread{{TID: 1, PC: img.pc, SP: img.sp, Words: []uint64{img.pc, img.sp}}})
	if err != nil {
		return
	}
	o.WantStrings()
	if err := o.FindTypes(t.Context()); err != nil {
		t.Errorf("types of a graph that was made: %v", err)
	}
	_, err = o.HashStrings(t.Context(), func(object, length uint32, _ uint64) {
		if object >= uint32(o.Count) || length == 0 {
			t.Errorf("a string of %d bytes in object %d of %d", length, object, o.Count)
		}
	})
	if err != nil {
		t.Errorf("strings of a graph that was made: %v", err)
	}
	last := uint32(0)
	for node := range uint32(o.Count + len(o.Roots)) {
		first, end := o.Pointers(node)
		if first != end && first != last {
			t.Fatalf("the pointers of node %d begin with %d, those before it end with %d", node, first, last)
		}
		for e := first; e < end; e++ {
			if last = end; o.To[e] >= uint32(o.Count) {
				t.Fatalf("node %d points to node %d of %d objects", node, o.To[e], o.Count)
			}
			o.Types.Label(o.Edge(e))
		}
		if node < uint32(o.Count) {
			if id, ok := o.At(o.Address(node)); !ok || id != node {
				t.Fatalf("object %d lies at %#x, where object %d is", node, o.Address(node), id)
			}
			o.Types.Name(o.TypeOf(node))
		}
	}
}

func TestACorruptMemoryNeitherPanicsNorHangs(t *testing.T) {
	for _, b := range []build{newest, {toolchain: toolchains[0], mode: "exe"}} {
		t.Run(b.String(), func(t *testing.T) {
			img := takeImageOf(t, b)
			rnd := rand.New(rand.NewPCG(1, 2))
			for range 300 {
				script := make([]byte, 5*rnd.IntN(200))
				for i := range script {
					script[i] = byte(rnd.Uint32())
				}
				for i := 0; i < len(script); i += 5 {
					script[i] %= 8 // often
				}
				img.readEverything(t, uint16(rnd.IntN(2000)), script)
			}
		})
	}
}

func FuzzMemory(f *testing.F) {
	img := takeImage(f)
	f.Add(uint16(0), []byte{})
	f.Add(uint16(0), []byte{20, 0, 0, 1, 1, 0, 0, 0, 3, 2, 5, 1, 1, 1, 0})
	f.Add(uint16(300), []byte{0, 0, 0, 0, 3, 60, 0, 1, 0, 2, 1, 0, 2, 0, 2})
	f.Fuzz(func(t *testing.T, from uint16, script []byte) { img.readEverything(t, from, script) })
}

func TestAProgramCanBeAttachedToFromItsFirstInstructionOn(t *testing.T) {
	for _, b := range builds() {
		t.Run(b.String(), func(t *testing.T) {
			p := launch(t, executable(t, b))
			p.attach()
			if err := p.stats.Counters(new(sample.Runtime)); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestARuntimeThatHasNotStartedIsNotReady(t *testing.T) {
	img := takeImage(t)
	if _, err := gomem.Attach(zeroed{img, img.bias}, img.bin, img.bias); !errors.Is(err, gomem.ErrNotReady) {
		t.Errorf("a process whose variables are all zero: %v", err)
	}
	if _, err := gomem.Attach(&image{}, img.bin, img.bias); err == nil || errors.Is(err, gomem.ErrNotReady) {
		t.Errorf("a process without memory: %v", err)
	}
}

// zeroed is an image of which only zeros have been mapped so far.
type zeroed struct {
	io.ReaderAt
	bias uint64
}

func (z zeroed) ReadAt(p []byte, off int64) (int, error) {
	clear(p)
	return len(p), nil
}

func TestAFeatureIsRefusedByNameAndTheOthersWork(t *testing.T) {
	img := takeImage(t)
	addr, ok := img.bin.Symbol("runtime.mbuckets")
	if !ok {
		t.Fatal("no symbol")
	}
	first := make([]byte, 8)
	if _, err := img.ReadAt(first, int64(addr+img.bias)); err != nil {
		t.Fatal(err)
	}
	bucket := binary.LittleEndian.Uint64(first)
	for i := range img.segments {
		if s := &img.segments[i]; s.start <= bucket && bucket < s.start+uint64(len(s.data)) {
			s.data[bucket-s.start+16] = 9 // a type that no bucket has
		}
	}
	rt, err := gomem.Attach(img, img.bin, img.bias)
	if err != nil {
		t.Fatal(err)
	}
	stats := gostats.New(rt)
	if err := stats.Why(gostats.FeatureProfile); err == nil || stats.Profile(new(sample.HeapProfile)) == nil {
		t.Error("a heap profile of which the first bucket is none is not refused")
	}
	if err := stats.Counters(new(sample.Runtime)); err != nil {
		t.Error(err)
	}
	if _, err := stats.Goroutines(); err != nil {
		t.Error(err)
	}
}
