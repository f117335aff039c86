package elffile

import (
	"bytes"
	"compress/zlib"
	"debug/elf"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"runtime"
	"testing"
)

// file is a small ELF file of these sections, after an empty one, the first of which has
// their names, which begin with a zero.
func file(sections []elf.Section64, names []byte) []byte {
	var h elf.Header64
	copy(h.Ident[:], elf.ELFMAG)
	h.Ident[elf.EI_CLASS], h.Ident[elf.EI_DATA], h.Ident[elf.EI_VERSION] = byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)
	h.Type, h.Machine, h.Version = uint16(elf.ET_EXEC), uint16(elf.EM_X86_64), uint32(elf.EV_CURRENT)
	h.Ehsize, h.Shentsize, h.Phentsize = 64, 64, 56
	h.Shoff, h.Shnum, h.Shstrndx = 64, uint16(len(sections)+1), 1
	sections = append([]elf.Section64{{}}, sections...)
	if len(sections) > 1 {
		sections[1].Off = 64 + 64*uint64(len(sections))
	}
	var b bytes.Buffer
	_ = binary.Write(&b, binary.LittleEndian, h)
	_ = binary.Write(&b, binary.LittleEndian, sections)
	b.Write(names)
	return b.Bytes()
}

func named(size int, flags elf.SectionFlag) elf.Section64 {
	return elf.Section64{Type: uint32(elf.SHT_STRTAB), Size: uint64(size), Flags: uint64(flags)}
}

// hole is a file that goes on with zeros.
type hole struct{ io.ReaderAt }

func (h hole) ReadAt(p []byte, off int64) (int, error) {
	clear(p)
	_, _ = h.ReaderAt.ReadAt(p, off)
	return len(p), nil
}

func TestHeadersThatTakeGigabytesAreRefused(t *testing.T) {
	long := append(append([]byte{0}, bytes.Repeat([]byte{'A'}, 1<<19)...), 0)
	many := []elf.Section64{named(len(long), 0)}
	for range 10000 { // 5 GB
		many = append(many, elf.Section64{Name: 1})
	}
	var packed bytes.Buffer
	_ = binary.Write(&packed, binary.LittleEndian, elf.Chdr64{Type: uint32(elf.COMPRESS_ZLIB), Size: 1 << 30, Addralign: 1})
	z := zlib.NewWriter(&packed)
	_, _ = z.Write(make([]byte, 1<<20))
	_ = z.Close()
	segments := file(nil, nil)
	binary.LittleEndian.PutUint16(segments[0x38:], 60000) // e_phnum
	large := file(nil, nil)
	binary.LittleEndian.PutUint16(large[0x36:], 60000) // e_phentsize
	binary.LittleEndian.PutUint16(large[0x38:], 100)
	uncounted := file([]elf.Section64{named(1, 0)}, []byte{0})
	binary.LittleEndian.PutUint16(uncounted[0x3c:], 0) // e_shnum: the first section has it
	binary.LittleEndian.PutUint64(uncounted[64+32:], 1<<28)
	for name, r := range map[string]io.ReaderAt{
		"many sections of one long name":  bytes.NewReader(file(many, long)),
		"names in a hole":                 hole{bytes.NewReader(file([]elf.Section64{named(1<<30, 0)}, []byte{0}))},
		"packed names":                    bytes.NewReader(file([]elf.Section64{named(packed.Len(), elf.SHF_COMPRESSED)}, packed.Bytes())),
		"segments":                        hole{bytes.NewReader(segments)},
		"large segments":                  hole{bytes.NewReader(large)},
		"sections that are counted apart": hole{bytes.NewReader(uncounted)},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := New(r)
			runtime.ReadMemStats(&after)
			if !errors.Is(err, ErrTooLarge) {
				t.Errorf("%v, want %v", err, ErrTooLarge)
			}
			if took := after.TotalAlloc - before.TotalAlloc; took > 8<<20 {
				t.Errorf("%d MiB were allocated", took>>20)
			}
		})
	}
}

func TestWhatLinkersWriteIsOpenedAsByDebugElf(t *testing.T) {
	self, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Skip("SKIP-REASON: needs an ELF executable:", err)
	}
	defer self.Close()
	want, err := elf.NewFile(self)
	if err != nil {
		t.Fatal(err)
	}
	got, err := New(self)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Sections) != len(want.Sections) || len(got.Progs) != len(want.Progs) || len(want.Sections) < 10 {
		t.Fatalf("%d sections, %d segments, want %d and %d", len(got.Sections), len(got.Progs), len(want.Sections), len(want.Progs))
	}
	for i, s := range want.Sections {
		if got.Sections[i].SectionHeader != s.SectionHeader {
			t.Errorf("section %d: %+v, want %+v", i, got.Sections[i].SectionHeader, s.SectionHeader)
		}
	}
}

// changing is a file whose owner puts another in its place once it was looked at.
type changing struct {
	first, then []byte
	seen        map[int64]bool
}

func (c *changing) ReadAt(p []byte, off int64) (int, error) {
	from := c.first
	if c.seen[off] {
		from = c.then
	}
	c.seen[off] = true
	return bytes.NewReader(from).ReadAt(p, off)
}

func TestAFileThatChangesMeanwhileIsThatWhichWasLookedAt(t *testing.T) {
	good := file([]elf.Section64{named(6, 0), {Name: 1}}, []byte("\x00name\x00"))
	bad := append(bytes.Clone(good[:64]), bytes.Repeat([]byte{0xff}, len(good)-64)...)
	f, err := New(&changing{good, bad, map[int64]bool{}})
	if err != nil || len(f.Sections) != 3 || f.Sections[2].Name != "name" {
		t.Errorf("%+v, %v", f, err)
	}
}

func FuzzNew(f *testing.F) {
	f.Add(file([]elf.Section64{named(6, 0), {Name: 1}}, []byte("\x00name\x00")))
	self, err := os.Open("/proc/self/exe")
	if err == nil {
		head := make([]byte, 4096)
		_, _ = self.ReadAt(head, 0)
		f.Add(head)
		_ = self.Close()
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := New(hole{bytes.NewReader(data)})
		if err != nil {
			return
		}
		sum := 0
		for _, s := range got.Sections {
			sum += len(s.Name)
		}
		if sum > maxNamesInAll || len(got.Progs) > maxSegments {
			t.Errorf("%d bytes of names, %d segments", sum, len(got.Progs))
		}
	})
}
