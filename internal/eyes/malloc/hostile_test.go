package malloc

import (
	"encoding/binary"
	"io"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// Where the made-up process has its parts.
const (
	fakeData  = 0x7f0000000000 // of the C library
	fakeMain  = fakeData + 0x200
	fakeHeap  = 0x5500000000
	fakeArena = 0x7e0000000000 // heap of a thread
	fakeSize  = 64 << 10
)

// fake is a memory of mappings with contents; what it reads beyond them is an error of the test.
type fake struct {
	t     testing.TB
	parts map[uint64][]byte
}

func (f *fake) ReadAt(p []byte, off int64) (int, error) {
	for start, b := range f.parts {
		if at := uint64(off) - start; uint64(off) >= start && at < uint64(len(b)) {
			n := copy(p, b[at:])
			if n < len(p) {
				return n, io.EOF
			}
			return n, nil
		}
	}
	f.t.Errorf("read %d bytes at %#x, where nothing is mapped", len(p), off)
	return 0, io.EOF
}

func (f *fake) put(addr uint64, words ...uint64) {
	for start, b := range f.parts {
		if at := addr - start; addr >= start && at+8*uint64(len(words)) <= uint64(len(b)) {
			for i, w := range words {
				binary.LittleEndian.PutUint64(b[at+8*uint64(i):], w)
			}
		}
	}
}

// state writes an arena without a free chunk in its bins.
func (f *fake) state(at, top, next, system uint64) {
	for k := range uint64(bins) {
		f.put(at+atBins+16*k, at+atBins+16*k-16, at+atBins+16*k-16)
	}
	f.put(at+atTop, top)
	f.put(at+atNext, next)
	f.put(at+atSystemMem, system)
}

// chunks fills a region with a chunk of each size, free ones negative, and the top behind them.
func (f *fake) chunks(start, end uint64, sizes ...int) (top uint64) {
	flag := uint64(prevInUse)
	for _, size := range sizes {
		n := uint64(max(size, -size))
		f.put(start+8, n|flag)
		if flag = prevInUse; size < 0 {
			flag = 0
		}
		start += n
	}
	f.put(start+8, (end-start)|flag)
	return start
}

// newFake is a process with a main arena and one of a thread: 2 blocks of 64 bytes and one of
// 1,024 in use, 4,096 bytes freed in each.
func newFake(t testing.TB) (*fake, Process) {
	f := &fake{t: t, parts: map[uint64][]byte{fakeData: make([]byte, fakeSize), fakeHeap: make([]byte, fakeSize), fakeArena: make([]byte, fakeSize)}}
	sizes := []int{64, -4096, 1024, 64}
	top := f.chunks(fakeHeap, fakeHeap+fakeSize, sizes...)
	f.state(fakeMain, top, fakeArena+heapInfo, fakeSize)
	first := uint64(fakeArena+heapInfo+stateSize+15) &^ 15
	top = f.chunks(first, fakeArena+fakeSize, sizes...)
	f.state(fakeArena+heapInfo, top, fakeMain, fakeSize)
	f.put(fakeArena, fakeArena+heapInfo, 0)
	p := Process{Memory: f, Page: 4096, Exe: "/app", Mappings: []Mapping{
		{Start: fakeHeap, End: fakeHeap + fakeSize, Writable: true, Path: "[heap]"},
		{Start: fakeArena, End: fakeArena + fakeSize, Writable: true},
		{Start: fakeData, End: fakeData + fakeSize, Writable: true, File: true, Path: "/lib/libc.so.6"},
	}}
	return f, p
}

// soon is far more than a reading of these takes.
func soon() time.Time { return time.Now().Add(time.Minute) }

func TestAMadeUpProcessIsRead(t *testing.T) {
	_, p := newFake(t)
	m, err := Read(p, soon())
	if err != nil || m.Blocks != 6 || m.InUse != 2*(64+64+1024) || m.WhyUnread != "" || len(m.Arenas) != 2 {
		t.Fatalf("%+v (%v)", m, err)
	}
	if free := m.Free - m.Top; free != 2*4096 {
		t.Errorf("%d free between blocks", free)
	}
	if m.Sizes[0] != (sample.MallocSize{Size: 1024, Count: 2}) || m.Sizes[1] != (sample.MallocSize{Size: 64, Count: 4}) {
		t.Errorf("sizes %v", m.Sizes)
	}
}

func TestForgedMemoryIsReadWithinItsMappings(t *testing.T) {
	top := uint64(fakeHeap + 64 + 4096 + 1024 + 64)
	for name, forge := range map[string]func(*fake){
		"a chunk of no size":                 func(f *fake) { f.put(fakeHeap+64+8, 1) },
		"a chunk of 16 bytes":                func(f *fake) { f.put(fakeHeap+64+8, 17) },
		"a chunk beyond the heap":            func(f *fake) { f.put(fakeHeap+64+8, 1<<40|1) },
		"a chunk of all addresses":           func(f *fake) { f.put(fakeHeap+64+8, ^uint64(0)) },
		"a top in nobody's memory":           func(f *fake) { f.put(fakeMain+atTop, 0xdead0000) },
		"a top of all addresses":             func(f *fake) { f.put(top+8, ^uint64(7)) },
		"an arena that follows itself":       func(f *fake) { f.put(fakeArena+heapInfo+atNext, fakeArena+heapInfo) },
		"arenas that lead nowhere":           func(f *fake) { f.put(fakeArena+heapInfo+atNext, 0x1230000030) },
		"heaps that follow one another":      func(f *fake) { f.put(fakeArena+8, fakeArena) },
		"a fastbin that follows itself":      func(f *fake) { f.put(fakeMain+atFastbins+16, fakeHeap); f.put(fakeHeap+16, fakeHeap) },
		"a fastbin that follows itself, new": func(f *fake) { f.put(fakeMain+atFastbins+16, fakeHeap); f.put(fakeHeap+16, fakeHeap^(fakeHeap+16)>>12) },
		"a fastbin outside":                  func(f *fake) { f.put(fakeMain+atFastbins, 0x10) },
		"more from the kernel than there is": func(f *fake) { f.put(fakeMain+atSystemMem, 1<<46) },
	} {
		t.Run(name, func(t *testing.T) {
			f, p := newFake(t)
			forge(f)
			checkBounds(t, p)
		})
	}
}

// checkBounds reads a process and checks what must hold whatever is in it.
func checkBounds(t *testing.T, p Process) {
	t.Helper()
	m, err := Read(p, soon())
	if err != nil {
		return
	}
	if m.InUse+m.Free > 2*fakeSize || m.FreeResident > m.Free || m.Top+m.Whole > m.FreeResident || m.Blocks > 2*fakeSize/leastSize {
		t.Errorf("of %d bytes: %+v", 2*fakeSize, m)
	}
	if len(m.Sizes) > sample.MaxSizes || len(m.Arenas) > sample.MaxArenas {
		t.Errorf("%d sizes, %d arenas", len(m.Sizes), len(m.Arenas))
	}
}

func TestAReadingEndsInTime(t *testing.T) {
	_, p := newFake(t)
	m, err := Read(p, time.Now().Add(-time.Second))
	if err == nil && m.InUse != 0 && m.WhyUnread == "" {
		t.Errorf("without time it read %+v", m)
	}
}

// lateMemory is a memory whose reading takes all the time there is once an address is read.
type lateMemory struct {
	io.ReaderAt
	part int64
	late bool
}

func (l *lateMemory) ReadAt(p []byte, off int64) (int, error) {
	l.late = l.late || off == l.part
	return l.ReaderAt.ReadAt(p, off)
}

// On a machine with too little time for all arenas those that were not reached are memory that was not read: were they
// nothing, what malloc keeps in them would pass for memory in use.
func TestArenasThatNoTimeIsLeftForCountAsUnread(t *testing.T) {
	_, p := newFake(t)
	memory := &lateMemory{ReaderAt: p.Memory, part: fakeHeap}
	p.Memory = memory
	m, _, err := read(p, func() bool { return memory.late })
	if err != nil || m.WhyUnread != "no time was left" || m.Unread < fakeSize-stateSize-4096 || m.System < 2*fakeSize-4096 {
		t.Errorf("%+v (%v)", m, err)
	}
}

func TestPagesThatAreNotInMemoryAreNotRead(t *testing.T) {
	f, p := newFake(t)
	p.Present = func(dst []bool, start, end uint64) ([]bool, error) {
		for at := start; at < end; at += 4096 {
			dst = append(dst, at != fakeHeap+4096)
		}
		return dst, nil
	}
	f.put(fakeHeap+64+8, 2048|prevInUse) // the next chunk is on the page before the missing one, its next on that
	f.put(fakeHeap+64+2048+8, 4000|prevInUse)
	f.parts[fakeHeap+2*4096] = f.parts[fakeHeap][2*4096:]
	f.parts[fakeHeap] = f.parts[fakeHeap][:4096]
	m, err := Read(p, soon())
	if err != nil || m.WhyUnread == "" || m.Unread == 0 {
		t.Errorf("%+v (%v)", m, err)
	}
}

// FuzzRead writes words anywhere into the process.
func FuzzRead(f *testing.F) {
	f.Add(uint16(0), uint64(0), uint16(0), uint64(1))
	f.Add(uint16(8), ^uint64(0), uint16(fakeSize/8+12), uint64(0x200))
	f.Fuzz(func(t *testing.T, where1 uint16, word1 uint64, where2 uint16, word2 uint64) {
		memory, p := newFake(t)
		for _, w := range []struct {
			at   uint16
			word uint64
		}{{where1, word1}, {where2, word2}} {
			base := []uint64{fakeHeap, fakeData, fakeArena}[uint64(w.at)*8/fakeSize%3]
			memory.put(base+uint64(w.at)*8%fakeSize, w.word)
		}
		checkBounds(t, p)
	})
}
