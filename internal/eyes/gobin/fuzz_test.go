package gobin

import (
	"bytes"
	"os"
	"runtime"
	"testing"
)

// patched calls test with data[at:] overwritten by patch, and restores data.
func patched(data []byte, at uint32, patch []byte, test func()) {
	part := data[int(at)%len(data):]
	part = part[:min(len(part), len(patch))]
	saved := bytes.Clone(part)
	copy(part, patch)
	defer copy(part, saved)
	test()
}

// FuzzTable changes bytes of a real function table.
func FuzzTable(f *testing.F) {
	b := open(f, plain.build(f))
	t := b.table
	data := bytes.Clone(b.at(b.module.pclntab))
	funcs := uint32(len(data) - len(t.funcs))
	inline := uint32(b.module.gofunc - b.module.pclntab)
	f.Add(uint32(0), []byte{0xf1, 0xff, 0xff, 0xff}, uint32(0))
	f.Add(uint32(8), []byte{0xff, 0xff, 0xff, 0xff, 0xff}, uint32(0x2000))
	f.Add(uint32(32), []byte{0, 0, 1}, uint32(0x2000))
	f.Add(funcs, []byte{0xff, 0xff, 0, 0, 0, 0, 0, 0}, uint32(0x2000))
	f.Add(funcs+4, []byte{0xff, 0xff, 0xff, 0xff}, uint32(0x2000))
	f.Add(inline, bytes.Repeat([]byte{1}, 4096), uint32(0x12345))
	f.Fuzz(func(_ *testing.T, at uint32, patch []byte, pc uint32) {
		patched(data, at, patch, func() {
			h, err := parseTable(data)
			if err != nil {
				return
			}
			h.text, h.end, h.ids, h.inlineData = t.text, t.end, t.ids, data[inline:]
			askAround(f, &Binary{table: h}, t.text+uint64(pc)%(t.end-t.text))
		})
	})
}

// FuzzModule adds a real function table with changed bytes to a program.
func FuzzModule(f *testing.F) {
	b := open(f, plain.build(f))
	t := b.table
	data := bytes.Clone(b.at(b.module.pclntab))
	inline := uint32(b.module.gofunc - b.module.pclntab)
	f.Add(uint32(64), []byte{0}, uint32(t.n+1), uint32(0x2000))
	f.Add(uint32(len(data)-len(t.funcs)), []byte{0xff, 0xff, 0, 0}, uint32(t.n+1), uint32(0x2000))
	f.Add(uint32(0), []byte{0xf1}, uint32(0xffffffff), uint32(0x2000))
	f.Add(inline, bytes.Repeat([]byte{1}, 4096), uint32(2), uint32(0x12))
	f.Fuzz(func(_ *testing.T, at uint32, patch []byte, functions, pc uint32) {
		patched(data, at, patch, func() {
			h, err := parseTable(data)
			if err != nil {
				return
			}
			host := &Binary{table: &table{quantum: t.quantum, ids: t.ids, text: 1, end: 2, n: 0, funcs: make([]byte, 8)}}
			err = host.AddModule(Module{
				Text: t.text, End: t.end, Header: data, Functions: int(int32(functions)), Inline: data[inline:],
				Names: h.names, Units: h.cus, Files: h.files, PCs: h.pcs, Table: h.funcs,
			})
			if err == nil {
				askAround(f, host, t.text+uint64(pc)%(t.end-t.text))
			}
		})
	})
}

// askAround asks everything that can be asked at a pc and its neighbours.
func askAround(f *testing.F, b *Binary, pc uint64) {
	for range 16 {
		if fn, ok := b.FuncAt(pc); ok {
			fn.SPDelta(pc)
			fn.StackMap(pc)
			fn.Name()
		}
		if n := len(b.Frames(nil, pc)); n > maxInline {
			f.Fatalf("%d frames at %#x", n, pc)
		}
		b.Locations(nil, []uint64{pc, pc + 1, 0, ^uint64(0)})
		pc += 61
	}
}

var pcHeader = []byte{0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// FuzzOpen changes bytes of a real executable and cuts it.
func FuzzOpen(f *testing.F) { fuzzFile(f, plain.build(f)) }

// FuzzOpenStripped does so where nothing but its bytes says where things are.
func FuzzOpenStripped(f *testing.F) {
	pie := probe{toolchain: "go1.26.8", flags: "-buildmode=pie"}
	fuzzFile(f, withoutSections(f, strip(f, pie.build(f))))
}

func fuzzFile(f *testing.F, exe string) {
	data, err := os.ReadFile(exe)
	if err != nil {
		f.Fatal(err)
	}
	size := uint32(len(data))
	f.Add(uint32(0), []byte("\x7fELF"), size)
	f.Add(uint32(0), []byte("#!"), uint32(2))
	f.Add(uint32(40), []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}, size)
	f.Add(uint32(58), []byte{1, 0, 0xff, 0xff}, size)
	f.Add(uint32(64+32), bytes.Repeat([]byte{0xff}, 16), size)
	f.Add(uint32(0), []byte{}, uint32(5000))
	f.Add(uint32(bytes.Index(data, []byte("\xff Go buildinf:"))), []byte("\xff Go buildinf:\x08\x02\xff\xff\xff\xff\xff\xff"), size)
	f.Add(uint32(bytes.Index(data, pcHeader)), bytes.Repeat(pcHeader, 1000), size)
	f.Add(uint32(bytes.Index(data, pcHeader)+16), bytes.Repeat([]byte{0, 1, 0xff}, 500), size)
	f.Fuzz(func(t *testing.T, at uint32, patch []byte, cut uint32) {
		patched(data, at, patch, func() {
			before := allocated()
			defer func() {
				if n := allocated() - before; n > 4*uint64(size)+16<<20 {
					t.Errorf("%d bytes were allocated for a file of %d", n, size)
				}
			}()
			b, err := read(&mapping{data: data[:min(cut, size)]})
			if err != nil {
				return
			}
			b.Layout()
			b.Base()
			text, _ := b.Symbol("runtime.text")
			b.Frames(nil, text+0x12345)
		})
	})
}
