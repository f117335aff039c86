package corefile

import (
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/highwater-go/highwater/internal/files/regular"
)

// What UseExecutable refuses.
var (
	ErrNoPath = errors.New("the core file does not say which executable ran")
	ErrOther  = errors.New("it is not the executable that ran: its build ID is another")
)

// executable stands for what the core leaves out of the mapped executable.
type executable struct {
	path string // as the core has it
	file io.ReaderAt
	size int64
}

// ExecutablePath is the path of the executable when the process ran, "" if the
// core does not say it: the file that was mapped at the program headers or at the
// entry point.
func (c *Core) ExecutablePath() string {
	if f := c.executableFile(); f != nil {
		return f.Path
	}
	return ""
}

func (c *Core) executableFile() *File {
	for _, key := range []uint64{auxPhdr, auxEntry} {
		if f := c.fileAt(c.Aux[key]); f != nil {
			return f
		}
	}
	return nil
}

// Base is the address that the start of the executable's file was mapped at.
func (c *Core) Base() (uint64, error) {
	exe := c.executableFile()
	if exe == nil {
		return 0, ErrNoPath
	}
	for _, f := range c.Files {
		if f.Path == exe.Path && f.Offset == 0 {
			return f.Start, nil
		}
	}
	return 0, fmt.Errorf("%w: the start of %s was not mapped", ErrNoPath, exe.Path)
}

// UseExecutable reads what the core leaves out of the executable from the file at
// path: from where it was, or another copy of it. verified says that both have
// the same build ID; it is false where the core does not hold the page that the
// ID is in. A file with another ID is refused with ErrOther.
func (c *Core) UseExecutable(path string) (verified bool, err error) {
	where := c.ExecutablePath()
	base, err := c.Base()
	if err != nil {
		return false, err
	}
	f, err := regular.Open(path) // the core may say anything
	if err != nil {
		return false, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return false, err
	}
	want, have := BuildID(io.NewSectionReader(c, int64(base), 1<<40)), BuildID(f)
	if have == "" || want != "" && want != have {
		f.Close()
		return false, ErrOther
	}
	c.exe = &executable{path: where, file: f, size: info.Size()}
	c.closers = append(c.closers, f)
	return want != "", nil
}

// UseLibraries reads what the core leaves out of other mapped files from where they
// were, those that are there still and have the build ID that the core holds.
func (c *Core) UseLibraries() {
	const most = 1 << 12
	found := make(map[string]*executable)
	exe := c.ExecutablePath()
	for _, f := range c.Files {
		if _, known := found[f.Path]; known || f.Offset != 0 || f.Path == exe || len(found) == most {
			continue
		}
		found[f.Path] = nil
		if want := BuildID(io.NewSectionReader(c, int64(f.Start), 1<<40)); want != "" {
			found[f.Path] = c.library(f.Path, want)
		}
	}
	c.libraries = found
}

// Libraries are the starts of the files that UseLibraries reads.
func (c *Core) Libraries() (all []File) {
	for _, f := range c.Files {
		if f.Offset == 0 && c.libraries[f.Path] != nil {
			all = append(all, f)
		}
	}
	return all
}

// library opens a file that has a build ID, nil if it is not there.
func (c *Core) library(path, id string) *executable {
	f, err := regular.Open(path)
	if err != nil {
		return nil
	}
	info, err := f.Stat()
	if err != nil || BuildID(f) != id {
		f.Close()
		return nil
	}
	c.closers = append(c.closers, f)
	return &executable{path: path, file: f, size: info.Size()}
}

// BuildID is the build IDs of an ELF file, GNU's or Go's, in hexadecimal, "" if it
// has none that can be read. It reads a file, or the memory from where the start
// of one is mapped: the notes of Go's linker lie in the file's first page.
func BuildID(r io.ReaderAt) string {
	var h elf.Header64
	if decodeAt(r, 0, &h) != nil || h.Ident[elf.EI_CLASS] != byte(elf.ELFCLASS64) || h.Phnum > 64 || h.Phoff > 1<<20 {
		return ""
	}
	headers := make([]elf.Prog64, h.Phnum)
	if decodeAt(r, int64(h.Phoff), headers) != nil {
		return ""
	}
	id := ""
	for _, p := range headers {
		if elf.ProgType(p.Type) != elf.PT_NOTE || p.Filesz > 64<<10 || p.Off > 1<<40 {
			continue
		}
		b := make([]byte, p.Filesz)
		if n, _ := r.ReadAt(b, int64(p.Off)); n < len(b) {
			continue
		}
		eachNote(b, func(name string, typ uint32, content []byte) {
			if name == "GNU" && typ == ntGNUBuildID || name == "Go" && typ == ntGoBuildID {
				id += name + ":" + hex.EncodeToString(content) + " "
			}
		})
	}
	return id
}

// Types of notes in executables (elf.h; cmd/internal/buildid, note.go).
const (
	ntGNUBuildID = 3
	ntGoBuildID  = 4
)

func decodeAt(r io.ReaderAt, off int64, to any) error {
	b := make([]byte, binary.Size(to))
	if n, err := r.ReadAt(b, off); n < len(b) {
		return err
	}
	_, err := binary.Decode(b, binary.LittleEndian, to)
	return err
}
