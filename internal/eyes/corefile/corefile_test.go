package corefile

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"github.com/highwater-go/highwater/internal/files/regular"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// part is one segment of a core in the making.
type part struct {
	start uint64
	size  uint64 // in memory
	held  []byte
	flags elf.ProgFlag
}

// maker makes core files.
type maker struct {
	machine elf.Machine
	notes   bytes.Buffer
	parts   []part
}

func (m *maker) note(name string, typ uint32, content []byte) {
	for _, v := range []uint32{uint32(len(name) + 1), uint32(len(content)), typ} {
		_ = binary.Write(&m.notes, binary.LittleEndian, v)
	}
	m.pad([]byte(name + "\x00"))
	m.pad(content)
}

func (m *maker) pad(b []byte) {
	m.notes.Write(b)
	m.notes.Write(make([]byte, padded(uint64(len(b)))-uint64(len(b))))
}

// file is the core: its header, program headers, notes, and memory.
func (m *maker) file() []byte {
	const header, entry = 64, 56
	h := elf.Header64{Type: uint16(elf.ET_CORE), Machine: uint16(m.machine), Phoff: header, Phentsize: entry, Phnum: uint16(1 + len(m.parts))}
	copy(h.Ident[:], elf.ELFMAG)
	h.Ident[elf.EI_CLASS], h.Ident[elf.EI_DATA] = byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB)
	at := uint64(header + entry*(1+len(m.parts)))
	var out, memory bytes.Buffer
	_ = binary.Write(&out, binary.LittleEndian, h)
	_ = binary.Write(&out, binary.LittleEndian, elf.Prog64{Type: uint32(elf.PT_NOTE), Off: at, Filesz: uint64(m.notes.Len())})
	at += uint64(m.notes.Len())
	for _, p := range m.parts {
		_ = binary.Write(&out, binary.LittleEndian, elf.Prog64{Type: uint32(elf.PT_LOAD), Flags: uint32(p.flags), Vaddr: p.start, Off: at,
			Filesz: uint64(len(p.held)), Memsz: p.size})
		memory.Write(p.held)
		at += uint64(len(p.held))
	}
	return append(append(out.Bytes(), m.notes.Bytes()...), memory.Bytes()...)
}

func words(list ...uint64) (b []byte) {
	for _, v := range list {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return b
}

// executableFile is an ELF file of two pages with a build ID; the second page is
// all sevens.
func executableFile(id string) []byte {
	b := make([]byte, 2*pageSize)
	h := elf.Header64{Type: uint16(elf.ET_EXEC), Machine: uint16(elf.EM_X86_64), Phoff: 64, Phentsize: 56, Phnum: 1}
	copy(h.Ident[:], elf.ELFMAG)
	h.Ident[elf.EI_CLASS], h.Ident[elf.EI_DATA] = byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB)
	n := maker{}
	n.note("GNU", ntGNUBuildID, []byte(id))
	var out bytes.Buffer
	_ = binary.Write(&out, binary.LittleEndian, h)
	_ = binary.Write(&out, binary.LittleEndian, elf.Prog64{Type: uint32(elf.PT_NOTE), Off: 256, Filesz: uint64(n.notes.Len())})
	copy(b, out.Bytes())
	copy(b[256:], n.notes.Bytes())
	copy(b[pageSize:], bytes.Repeat([]byte{7}, pageSize))
	return b
}

// Where the example has what.
const (
	textAt  = 0x400000 // the executable's two pages, of which the core has the first
	dataAt  = 0x600000 // two written pages: ones, zeros
	bareAt  = 0x700000 // a page that was never touched
	otherAt = 0x800000 // a library's page that was left out
	roAt    = 0x900000 // an anonymous page that cannot be written, left out
)

// generals are the example's registers but for those of its stack.
var generals = []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}

func example(path string) maker {
	m := maker{machine: elf.EM_X86_64}
	status := make([]byte, 336)
	status[12] = 6
	binary.LittleEndian.PutUint32(status[32:], 4242)
	copy(status[112:], words(generals...))
	binary.LittleEndian.PutUint64(status[112+8*16:], textAt+pageSize)
	binary.LittleEndian.PutUint64(status[112+8*19:], dataAt+16)
	m.note("CORE", ntPrstatus, status)
	info := make([]byte, 136)
	binary.LittleEndian.PutUint32(info[24:], 4242)
	copy(info[40:], "shop")
	copy(info[56:], "./shop -addr :80")
	m.note("CORE", ntPrpsinfo, info)
	m.note("CORE", ntAuxv, words(auxPhdr, textAt+64, auxEntry, textAt+pageSize, 0, 0))
	m.note("CORE", ntFile, append(words(3, pageSize, textAt, textAt+2*pageSize, 0, otherAt, otherAt+pageSize, 5, dataAt+8*pageSize, dataAt+9*pageSize, 0),
		[]byte(path+"\x00/lib/libc.so\x00/dev/zero\x00")...))
	m.parts = []part{
		{textAt, 2 * pageSize, executableFile("shop")[:pageSize], elf.PF_R | elf.PF_X},
		{dataAt, 2 * pageSize, append(bytes.Repeat([]byte{1}, pageSize), make([]byte, pageSize)...), elf.PF_R | elf.PF_W},
		{bareAt, pageSize, nil, elf.PF_R | elf.PF_W},
		{otherAt, pageSize, nil, elf.PF_R | elf.PF_X},
		{roAt, pageSize, nil, elf.PF_R},
	}
	return m
}

func read(t *testing.T, b []byte) *Core {
	t.Helper()
	c, err := Read(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func write(t *testing.T, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "shop")
	if err := os.WriteFile(path, b, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestNotesSayWhoseCoreItIs(t *testing.T) {
	m := example("/srv/shop")
	c := read(t, m.file())
	if c.PID != 4242 || c.Name != "shop" || strings.Join(c.Args, " ") != "./shop -addr :80" || c.Signal != 6 {
		t.Errorf("pid %d, name %q, args %q, signal %d", c.PID, c.Name, c.Args, c.Signal)
	}
	if want := (Thread{4242, textAt + pageSize, dataAt + 16, generals}); len(c.Threads) != 1 || !reflect.DeepEqual(c.Threads[0], want) {
		t.Errorf("threads %+v", c.Threads)
	}
	if base, err := c.Base(); c.ExecutablePath() != "/srv/shop" || base != textAt || err != nil {
		t.Errorf("executable %q at %#x, %v", c.ExecutablePath(), base, err)
	}
}

func TestMemoryIsWhatTheProcessHadOrAnError(t *testing.T) {
	path := write(t, executableFile("shop"))
	m := example(path)
	c := read(t, m.file())
	look := func(addr uint64, n int) (string, error) {
		b := make([]byte, n)
		k, err := c.ReadAt(b, int64(addr))
		return string(b[:k]), err
	}
	same := func(b byte, n int) string { return string(bytes.Repeat([]byte{b}, n)) }
	for name, v := range map[string]struct {
		addr uint64
		n    int
		want string
	}{
		"held":             {dataAt + 8, 16, same(1, 16)},
		"over a page":      {dataAt + pageSize - 4, 8, same(1, 4) + same(0, 4)},
		"never touched":    {bareAt + 100, 8, same(0, 8)},
		"the ELF header":   {textAt, 4, elf.ELFMAG},
		"nothing is asked": {dataAt, 0, ""},
	} {
		if got, err := look(v.addr, v.n); err != nil || got != v.want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	absent := func(name string, addr uint64) {
		if got, err := look(addr, 8); !errors.Is(err, ErrAbsent) || got != "" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	absent("not mapped", 0x1000)
	absent("past all", 1<<62)
	absent("a library", otherAt)
	absent("left out and not to be written", roAt)
	absent("the executable, not given", textAt+pageSize)
	if verified, err := c.UseExecutable(path); err != nil || !verified {
		t.Fatal(verified, err)
	}
	if got, err := look(textAt+pageSize, 8); err != nil || got != same(7, 8) {
		t.Errorf("from the executable: %q, %v", got, err)
	}
	if got, err := look(textAt+2*pageSize-4, 8); !errors.Is(err, ErrAbsent) || got != same(7, 4) {
		t.Errorf("over its end: %q, %v", got, err)
	}
	absent("a library still", otherAt)
	m.parts = m.parts[1:] // as gcore writes it: without a word of the executable's text
	c = read(t, m.file())
	if verified, err := c.UseExecutable(path); err != nil || verified {
		t.Fatal(verified, err)
	}
	if got, err := look(textAt+pageSize, 8); err != nil || got != same(7, 8) {
		t.Errorf("from the executable alone: %q, %v", got, err)
	}
}

func TestAnotherExecutableIsRefused(t *testing.T) {
	m := example("/srv/shop")
	c := read(t, m.file())
	for name, v := range map[string]struct {
		file []byte
		want error
	}{
		"another build": {executableFile("shoq"), ErrOther},
		"no executable": {[]byte("#!/bin/sh\n"), ErrOther},
		"the same":      {executableFile("shop"), nil},
	} {
		if _, err := c.UseExecutable(write(t, v.file)); !errors.Is(err, v.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	pipe := filepath.Join(t.TempDir(), "pipe") // which would be waited for without end
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := c.UseExecutable(pipe); !errors.Is(err, regular.ErrNot) {
		t.Error(err)
	}
	if _, err := c.UseExecutable(t.TempDir()); err == nil {
		t.Error("a directory is an executable")
	}
	m.parts[0].held = nil // without its first page
	c = read(t, m.file())
	if verified, err := c.UseExecutable(write(t, executableFile("shoq"))); err != nil || verified {
		t.Errorf("without a build ID in the core: %v, %v", verified, err)
	}
}

func TestPagesThatHoldAnythingAreDivided(t *testing.T) {
	path := write(t, executableFile("shop"))
	m := example(path)
	const arena = 0x1000000
	full := bytes.Repeat([]byte{5}, 16*pageSize)
	m.parts = append(m.parts, part{arena, 64 * pageSize, full, elf.PF_R | elf.PF_W})
	c := read(t, m.file())
	if _, err := c.UseExecutable(path); err != nil {
		t.Fatal(err)
	}
	r, err := c.Residency([]sample.PageRange{
		{Start: arena, End: arena + 64*pageSize, Kind: sample.RangeArena},
		{Start: arena + pageSize, End: arena + 5*pageSize, Kind: sample.RangeObjects},
		{Start: arena + 8*pageSize, End: arena + 9*pageSize, Kind: sample.RangeStacks},
		{Start: arena + 15*pageSize, End: arena + 20*pageSize, Kind: sample.RangeObjectsNew},
		{Start: bareAt, End: bareAt + pageSize, Kind: sample.RangeRuntime},
	}, true)
	if err != nil {
		t.Fatal(err)
	}
	want := sample.Residency{GoKnown: true, GoObjects: 5 * pageSize, GoStacks: pageSize, GoIdle: 10 * pageSize, Image: pageSize,
		Untouched: 4 * pageSize, Anon: 17 * pageSize}
	if *r != want { // dataAt is the main thread's stack here: Image
		t.Errorf("%+v\nwant %+v", *r, want)
	}
}

func TestACutCoreSaysWhatIsMissing(t *testing.T) {
	m := example("/srv/shop")
	whole := m.file()
	lost := 0
	for n := range whole {
		c, err := Read(bytes.NewReader(whole[:n]), int64(n))
		if err != nil {
			if !errors.Is(err, ErrCut) && !errors.Is(err, ErrNotCore) {
				t.Fatalf("cut to %d bytes: %v", n, err)
			}
			continue
		}
		if c.Lost() != uint64(len(whole)-n) {
			t.Fatalf("cut to %d of %d bytes: %d are lost", n, len(whole), c.Lost())
		}
		lost++
		b := make([]byte, 1)
		if _, err := c.ReadAt(b, dataAt+2*pageSize-1); !errors.Is(err, ErrAbsent) {
			t.Fatalf("cut to %d bytes: the last byte is read: %v", n, err)
		}
	}
	if lost < 2*pageSize {
		t.Errorf("only %d cuts left anything", lost)
	}
}

func TestWhatIsNoCoreIsRefusedByName(t *testing.T) {
	m := example("/srv/shop")
	whole := m.file()
	with := func(at int, b ...byte) []byte {
		out := bytes.Clone(whole)
		copy(out[at:], b)
		return out
	}
	thrice := bytes.Clone(whole)
	for n := 3; n <= 5; n++ { // place and length in the file of the text's page
		copy(thrice[64+56*n+8:], whole[64+56+8:][:8])
		copy(thrice[64+56*n+32:], whole[64+56+32:][:8])
	}
	for name, v := range map[string]struct {
		file []byte
		want error
		says string
	}{
		"nothing":         {nil, ErrNotCore, ""},
		"words":           {[]byte("these are words, and more than a header"), ErrNotCore, ""},
		"an executable":   {executableFile("x"), ErrNotCore, "an executable"},
		"32 bits":         {with(elf.EI_CLASS, byte(elf.ELFCLASS32)), ErrArch, ""},
		"s390x":           {with(18, byte(elf.EM_S390)), ErrArch, "EM_S390"},
		"no segment":      {with(56, 0, 0), ErrNotCore, ""},
		"one page thrice": {thrice, ErrNotCore, "over each other"},
		"too many":        {with(56, 0xff, 0xfe), ErrCut, ""},
		"headers beyond":  {with(32, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff), ErrCut, ""},
	} {
		if _, err := Read(bytes.NewReader(v.file), int64(len(v.file))); !errors.Is(err, v.want) || !strings.Contains(err.Error(), v.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if core, other := Is(bytes.NewReader(whole)); !core || other != "" {
		t.Errorf("a core: %v, %q", core, other)
	}
}

func FuzzRead(f *testing.F) {
	m := example("/srv/shop")
	f.Add(m.file())
	m.machine = elf.EM_AARCH64
	m.parts[1].held = nil
	f.Add(m.file())
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := Read(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		base, _ := c.Base()
		BuildID(bytes.NewReader(b))
		p := make([]byte, 100)
		for _, addr := range []uint64{0, base, c.Aux[auxPhdr], c.segments[0].Start, c.segments[len(c.segments)-1].End - 50, textAt, dataAt} {
			n, err := c.ReadAt(p, int64(addr))
			if n < len(p) && err == nil || n > len(p) {
				t.Errorf("%d bytes at %#x, %v", n, addr, err)
			}
		}
		if r, err := c.Residency(nil, false); err == nil && r.Anon > sample.Bytes(len(b))*sample.Bytes(len(c.segments)) {
			t.Errorf("%d bytes of memory in a file of %d", r.Anon, len(b))
		}
	})
}
