package gomem

import (
	"fmt"

	"github.com/highwater-go/highwater/internal/eyes/gobin"
)

// maxTable bounds one table of a module's functions. Those of a program with
// 300,000 functions have some 60 MB together.
const maxTable = 256 << 20

// maxInlineData bounds what is read behind moduledata.gofunc, whose end nothing
// says.
const maxInlineData = 64 << 20

// codePlaces are offsets within a moduledata of what its functions are read from
// (runtime/symtab.go).
type codePlaces struct {
	size         uint64 // of a moduledata
	header       uint64
	tables       [5]uint64 // funcnametab, cutab, filetab, pctab, pclntable
	ftab         uint64
	text, etext  uint64
	gofunc       uint64
	behindGofunc []uint64 // addresses, of which the next one ends what gofunc begins
}

func (cp *codePlaces) attach(find *Resolver) {
	at := func(field string) uint64 { return find.Offset("moduledata", field) }
	*cp = codePlaces{
		size: find.Size("moduledata"), header: at("pcHeader"), ftab: at("ftab"), text: at("text"), etext: at("etext"), gofunc: at("gofunc"),
		tables: [5]uint64{at("funcnametab"), at("cutab"), at("filetab"), at("pctab"), at("pclntable")},
	}
	for _, field := range []string{"pcHeader", "funcnametab", "findfunctab", "types", "etypes", "rodata", "noptrdata", "data", "end"} {
		cp.behindGofunc = append(cp.behindGofunc, at(field))
	}
}

// read reads the module at an address of a process that has its executable loaded
// bias bytes above its link-time addresses.
func (cp *codePlaces) read(m Memory, addr, bias uint64) (mod gobin.Module, err error) {
	data := make([]byte, cp.size)
	if err := m.Read(addr, data); err != nil {
		return mod, err
	}
	mod.Text, mod.End = Word(data, cp.text)-bias, Word(data, cp.etext)-bias
	mod.Functions = int(min(Word(data, cp.ftab+8), maxTable))
	mod.Header = make([]byte, 8)
	if err := m.Read(Word(data, cp.header), mod.Header); err != nil {
		return mod, err
	}
	for i, to := range []*[]byte{&mod.Names, &mod.Units, &mod.Files, &mod.PCs, &mod.Table} {
		ptr, n := Word(data, cp.tables[i]), Word(data, cp.tables[i]+8)
		if i == 1 { // of uint32
			n *= 4
		}
		if n > maxTable {
			return mod, fmt.Errorf("a table of %d bytes", n)
		}
		if *to, err = m.bytes(ptr, n); err != nil {
			return mod, err
		}
	}
	from := Word(data, cp.gofunc)
	end := from + maxInlineData
	for _, off := range cp.behindGofunc {
		if at := Word(data, off); at > from {
			end = min(end, at)
		}
	}
	mod.Inline, _ = m.bytes(from, end-from) // as far as it is mapped
	return mod, nil
}

// bytes is n bytes at addr. It reads before it grows what it returns, so that a
// false n costs no memory; with an error comes what was read.
func (m Memory) bytes(addr, n uint64) (all []byte, err error) {
	for buf := make([]byte, min(n, WindowSize)); n > 0; {
		part := buf[:min(n, WindowSize)]
		if err := m.Read(addr, part); err != nil {
			return all, err
		}
		all = append(all, part...)
		addr, n = addr+uint64(len(part)), n-uint64(len(part))
	}
	return all, nil
}
