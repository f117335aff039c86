package malloc

import (
	"bytes"
	"debug/elf"
	"io"

	"github.com/highwater-go/highwater/internal/files/elffile"
)

// mostNames bounds how much of an executable's names is read.
const mostNames = 64 << 20

// linkedNames are symbols that only one allocator has. One that replaces malloc comes before the C library.
var linkedNames = []struct{ symbol, name string }{
	{"\x00je_malloc\x00", "jemalloc"}, {"\x00mallctlnametomib\x00", "jemalloc"},
	{"\x00tc_malloc\x00", "tcmalloc"}, {"\x00TCMallocInternalMalloc\x00", "tcmalloc"},
	{"\x00mi_malloc\x00", "mimalloc"},
	{"\x00__malloc_allzerop\x00", "musl"}, {"\x00__libc_malloc_impl\x00", "musl"}, {"\x00__malloc_donate\x00", "musl"},
}

// LinkedIn names the allocator that is linked into an executable and is not glibc's; "":
// none that is known, or its symbols were stripped.
func LinkedIn(exe io.ReaderAt) string {
	f, err := elffile.New(exe)
	if err != nil {
		return ""
	}
	best, left := len(linkedNames), uint64(mostNames)
	for _, s := range f.Sections {
		if s.Type != elf.SHT_STRTAB || s.Flags&elf.SHF_COMPRESSED != 0 {
			continue
		}
		names := make([]byte, min(s.FileSize, left))
		left -= uint64(len(names))
		n, _ := s.ReaderAt.ReadAt(names, 0)
		for i := range linkedNames[:best] {
			if bytes.Contains(names[:n], []byte(linkedNames[i].symbol)) {
				best = i
				break
			}
		}
	}
	if best == len(linkedNames) {
		return ""
	}
	return linkedNames[best].name
}

// Named is what is known of an allocator that is not read.
func Named(name string) (whyNot string) { return howToAsk[name] }
