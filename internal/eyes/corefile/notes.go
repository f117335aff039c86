package corefile

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"strings"
)

// The notes of a core (include/uapi/linux/elf.h).
const (
	ntPrstatus = 1
	ntPrpsinfo = 3
	ntAuxv     = 6
	ntFile     = 0x46494c45
)

// Entries of the auxiliary vector (include/uapi/linux/auxvec.h).
const (
	auxPhdr  = 3 // address of the executable's program headers
	auxEntry = 9 // address of its entry point
)

// Bounds on what notes may hold: 4,000 bytes a thread with all its registers,
// for 100,000 threads.
const (
	maxNotes = 512 << 20
	maxFiles = 1 << 20
)

// readNotes reads a PT_NOTE: records of a name, a type and a content, each
// padded to 4 bytes.
func (c *Core) readNotes(p elf.Prog64) error {
	if p.Filesz > maxNotes {
		return fmt.Errorf("%w: %d bytes of notes", ErrNotCore, p.Filesz)
	}
	if p.Off > uint64(c.size) || p.Filesz > uint64(c.size)-p.Off {
		return ErrCut
	}
	b := make([]byte, p.Filesz)
	if n, _ := c.file.ReadAt(b, int64(p.Off)); n < len(b) {
		return ErrCut
	}
	eachNote(b, func(name string, typ uint32, content []byte) {
		if name == "CORE" {
			c.note(typ, content)
		}
	})
	return nil
}

// eachNote ends at the first record that is not whole.
func eachNote(b []byte, each func(name string, typ uint32, content []byte)) {
	for len(b) >= 12 {
		name, content, typ := uint64(binary.LittleEndian.Uint32(b)), uint64(binary.LittleEndian.Uint32(b[4:])), binary.LittleEndian.Uint32(b[8:])
		from, end := 12+padded(name), 12+padded(name)+content
		if end > uint64(len(b)) {
			return
		}
		each(strings.TrimRight(string(b[12:12+name]), "\x00"), typ, b[from:end])
		b = b[min(12+padded(name)+padded(content), uint64(len(b))):]
	}
}

func padded(n uint64) uint64 { return (n + 3) &^ 3 }

func (c *Core) note(typ uint32, b []byte) {
	switch typ {
	case ntPrstatus:
		c.thread(b)
	case ntPrpsinfo:
		c.process(b)
	case ntAuxv:
		for ; len(b) >= 16; b = b[16:] {
			c.Aux[binary.LittleEndian.Uint64(b)] = binary.LittleEndian.Uint64(b[8:])
		}
	case ntFile:
		c.files(b)
	}
}

// thread reads struct elf_prstatus (include/linux/elfcore.h): the signal at 12,
// the thread's id at 32, registers from 112 on in the order of user_regs_struct
// (x86: 15 general ones, rip 16th, rsp 19th; arm64: 31 general ones, sp 31st, pc 32nd,
// counted from 0). The first is the thread that got the signal.
func (c *Core) thread(b []byte) {
	general, pc, sp := 15, 112+8*16, 112+8*19
	if c.Machine == elf.EM_AARCH64 {
		general, pc, sp = 31, 112+8*32, 112+8*31
	}
	if len(b) < max(pc, sp)+8 {
		return
	}
	if len(c.Threads) == 0 {
		c.Signal = int(binary.LittleEndian.Uint16(b[12:]))
	}
	t := Thread{TID: int(binary.LittleEndian.Uint32(b[32:])), PC: binary.LittleEndian.Uint64(b[pc:]), SP: binary.LittleEndian.Uint64(b[sp:])}
	for i := range general {
		t.Words = append(t.Words, binary.LittleEndian.Uint64(b[112+8*i:]))
	}
	c.Threads = append(c.Threads, t)
	if c.PID == 0 {
		c.PID = t.TID
	}
}

// process reads struct elf_prpsinfo: the pid at 24, the name of 16 bytes at 40,
// the command line of 80 at 56, its words parted by spaces.
func (c *Core) process(b []byte) {
	if len(b) < 136 {
		return
	}
	c.PID = int(binary.LittleEndian.Uint32(b[24:]))
	c.Name = text(b[40:56])
	c.Args = strings.Fields(text(b[56:136]))
}

func text(b []byte) string {
	b, _, _ = bytes.Cut(b, []byte{0})
	return string(b)
}

// files reads NT_FILE (fs/binfmt_elf.c, fill_files_note): their number, the size
// of a page, three words for each, and then the paths.
func (c *Core) files(b []byte) {
	if len(b) < 16 {
		return
	}
	n, page := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
	if n > maxFiles || n*24 > uint64(len(b)-16) || page > 1<<30 {
		return
	}
	words, paths := b[16:16+n*24], b[16+n*24:]
	for i := range n {
		path, rest, ok := bytes.Cut(paths, []byte{0})
		if !ok {
			return
		}
		paths = rest
		w := words[24*i:]
		f := File{Start: binary.LittleEndian.Uint64(w), End: binary.LittleEndian.Uint64(w[8:]), Path: string(path)}
		f.Offset = binary.LittleEndian.Uint64(w[16:]) * page
		if f.Start < f.End {
			c.Files = append(c.Files, f)
		}
	}
}
