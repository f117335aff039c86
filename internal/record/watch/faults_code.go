package watch

import (
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/faultprofile"
	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/words/sample"
)

const (
	// codeAgain is how long after a look at the libraries the next one is worth while, as programs load more.
	// After the first looks, at its start, it is shorter, and doubles: libc itself may not be there yet.
	codeAgain      = time.Second
	codeAgainFirst = 20 * time.Millisecond
	// maxCode bounds the libraries that are opened of a program.
	maxCode = 64
	// maxCodeBytes bounds what is kept of them: that of Chromium takes 10 MiB.
	maxCodeBytes = 128 << 20
)

// codeMap is where a program's C code lies: its libraries, and its executable where C is
// linked in.
type codeMap struct {
	p      *process
	target faultprofile.Target
	mu     sync.Mutex // of what follows: frames are named while others are found
	mapper procfs.Mapper
	parts  []codePart
	held   int // bytes of the images
	looked time.Time
	again  time.Duration // how long after that the next look is worth while
}

// codePart is one file, mapped over [start, end).
type codePart struct {
	start, end uint64
	image      *faultprofile.Image // nil: it could not be opened
	path       string              // through which it was
	bias       uint64
}

// codeMap is that of the program, which is closed with it.
func (p *process) codeMap(t faultprofile.Target) *codeMap {
	if p.code == nil {
		p.code = &codeMap{p: p, target: t}
	}
	return p.code
}

// Image is that of faultprofile.Code.
func (c *codeMap) Image(pc uint64) (*faultprofile.Image, uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for again := range 2 {
		for i := range c.parts {
			if p := &c.parts[i]; pc >= p.start && pc < p.end {
				return p.image, p.bias
			}
		}
		if now := time.Now(); again > 0 || now.Sub(c.looked) < c.again {
			break
		}
		c.look()
	}
	return nil, 0
}

// look opens what is new among the files that are mapped.
func (c *codeMap) look() {
	c.looked, c.again = time.Now(), min(max(2*c.again, codeAgainFirst), codeAgain)
	ends := c.ends()
	if len(c.parts) == 0 && c.p.library == "" {
		c.open([]string{c.p.bin.Path}, c.p.program.Name, c.p.bin.Base()+c.p.bias, ends)
	}
	libraries, err := c.mapper.Libraries(c.p.root, c.p.readTID)
	if err != nil {
		return
	}
	for _, at := range libraries {
		if len(c.parts) < maxCode && !c.has(at.Start) && ends[at.Start] != 0 {
			name := filepath.Base(strings.TrimSuffix(at.Path, " (deleted)"))
			c.open(procfs.LibraryPaths(c.p.root, c.p.readTID, at), name, at.Start, ends)
		}
	}
}

func (c *codeMap) has(start uint64) bool {
	for _, p := range c.parts {
		if p.start == start {
			return true
		}
	}
	return false
}

// ends are where the code of files ends, by where the files begin.
func (c *codeMap) ends() map[uint64]uint64 {
	mappings, err := c.mapper.Areas(c.p.root, c.p.readTID)
	if err != nil {
		return nil
	}
	ends := map[uint64]uint64{}
	var first *procfs.Mapping
	for i := range mappings {
		m := &mappings[i]
		if m.Offset == 0 && m.FileBacked() {
			first = m
		}
		if first != nil && m.Inode == first.Inode && m.Path == first.Path && m.Perms[2] == 'x' {
			ends[first.Start] = m.End
		}
	}
	return ends
}

func (c *codeMap) open(paths []string, name string, start uint64, ends map[uint64]uint64) {
	part := codePart{start: start, end: ends[start]}
	for _, path := range paths {
		image, err := faultprofile.OpenImage(path, name, c.target.Text-c.p.bias, c.target.Etext-c.p.bias)
		if err != nil {
			continue
		}
		if c.held += image.Size(); c.held > maxCodeBytes {
			c.held -= image.Size()
			image.Close()
			break
		}
		part.image, part.path, part.bias = image, path, start-image.Base
		break
	}
	c.parts = append(c.parts, part)
}

// frames names return addresses of C, the first of which is the instruction's own.
func (c *codeMap) frames(pcs []uint64) (where []sample.Location) {
	for i, pc := range pcs {
		at := pc
		if i > 0 {
			at--
		}
		l := sample.Location{Address: at}
		if m, bias := c.Image(pc); m != nil {
			l.Address = at - bias
			f := sample.Frame{Func: m.Function(l.Address), File: m.Name}
			if f.Func == "" {
				f.Func = "(" + m.Name + ")"
			}
			l.Frames = []sample.Frame{f}
		}
		where = append(where, l)
	}
	return where
}

func (c *codeMap) close() {
	for _, p := range c.parts {
		if p.image != nil {
			p.image.Close()
		}
	}
}
