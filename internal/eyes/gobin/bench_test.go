package gobin

import (
	"encoding/binary"
	"fmt"
	"os"
	"testing"
)

func BenchmarkOpen(b *testing.B) {
	exe := plain.build(b)
	st, err := os.Stat(exe)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ReportMetric(float64(st.Size())/1e6, "MB-file")
	for b.Loop() {
		bin, err := Open(exe)
		if err != nil {
			b.Fatal(err)
		}
		bin.Close()
	}
}

func BenchmarkOpenStripped(b *testing.B) {
	stripped := strip(b, plain.build(b))
	for name, exe := range map[string]string{"sections": stripped, "no sections": withoutSections(b, stripped)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				bin, err := Open(exe)
				if err != nil {
					b.Fatal(err)
				}
				bin.Close()
			}
		})
	}
}

// A binary of 100 MB has about 300,000 symbols.
func BenchmarkSymbolsOfALargeBinary(b *testing.B) {
	bin := &Binary{file: &mapping{}, strtab: []byte{0}}
	for i := range 300_000 {
		var sym [24]byte
		binary.LittleEndian.PutUint32(sym[:], uint32(len(bin.strtab)))
		sym[4], sym[6] = 2, 1 // FUNC
		name := fmt.Sprintf("example.com/some/package/of/a/module.(*Type).Method%d", i)
		if i%10 == 0 {
			sym[4], name = 1, fmt.Sprintf("example.com/some/package.variable%d", i) // OBJECT
		}
		if i%1000 == 0 {
			name = fmt.Sprintf("runtime.variable%d", i)
		}
		bin.symtab = append(bin.symtab, sym[:]...)
		bin.strtab = append(append(bin.strtab, name...), 0)
	}
	b.ReportAllocs()
	for b.Loop() {
		if n := len(bin.collectSymbols()); n != 300 {
			b.Fatal(n)
		}
	}
}

func BenchmarkFrames(b *testing.B) {
	bin := open(b, plain.build(b))
	text, _ := bin.Symbol("runtime.text")
	end, _ := bin.Symbol("runtime.etext")
	var frames []Frame
	pc := text
	b.ReportAllocs()
	for b.Loop() {
		frames = bin.Frames(frames[:0], pc)
		if pc += 97; pc >= end {
			pc = text
		}
	}
}

func BenchmarkFuncAtAndSPDelta(b *testing.B) {
	bin := open(b, plain.build(b))
	text, _ := bin.Symbol("runtime.text")
	end, _ := bin.Symbol("runtime.etext")
	pc := text
	b.ReportAllocs()
	for b.Loop() {
		if fn, ok := bin.FuncAt(pc); ok {
			fn.SPDelta(pc)
		}
		if pc += 97; pc >= end {
			pc = text
		}
	}
}
