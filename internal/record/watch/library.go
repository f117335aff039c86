package watch

import (
	"bytes"
	"errors"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/gobin"
	"github.com/highwater-go/highwater/internal/eyes/gomem"
	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/files/regular"
)

// A program that was written in another language may load a library that was built
// by Go (-buildmode=c-shared), at its start or at any time later. It has a Go
// runtime then, in that library's variables.

const (
	lookFirst = 20 * time.Millisecond
	lookLast  = time.Second
)

// openLibrary opens the first Go library that the process has loaded, and its
// memory. notGo is returned where there is none.
func (p *process) openLibrary(m *procfs.Mapper, pid int, notGo error) error {
	libraries, err := m.Libraries(p.root, pid)
	if err != nil || slices.Equal(startsOf(libraries), p.libraries) {
		return notGo
	}
	p.libraries = startsOf(libraries)
	mem, err := procfs.OpenMemory(p.root, pid)
	if err != nil {
		return whyUnread(p.root, p.key.PID, err)
	}
	for _, at := range libraries {
		if bin := goLibrary(p.root, pid, at, mem); bin != nil {
			if _, err := gomem.Attach(mem, bin, at.Start-bin.Base()); isNotReady(err) {
				bin.Close() // it is being loaded: nothing of it is right yet
				p.libraries = nil
				break
			}
			p.bin, p.mem, p.library = bin, mem, nameOf(at)
			p.program.Go = bin.GoProgram()
			p.program.WhyNot = ""
			return p.openRuntime(at.Start)
		}
	}
	mem.Close()
	return notGo
}

// nameOf is a library's name in messages.
func nameOf(at procfs.Mapping) string { return path.Base(strings.TrimSuffix(at.Path, " (deleted)")) }

// startsOf are the addresses at which libraries begin: what tells whether another
// has come.
func startsOf(libraries []procfs.Mapping) (starts []uint64) {
	for _, at := range libraries {
		starts = append(starts, at.Start)
	}
	return starts
}

// goLibrary opens a mapped file that is a Go library, nil if it is none or is not
// the one that is mapped.
func goLibrary(root string, pid int, at procfs.Mapping, mem io.ReaderAt) *gobin.Binary {
	for _, path := range procfs.LibraryPaths(root, pid, at) {
		if !gobin.IsGo(path) || !startsLike(path, mem, at.Start) {
			continue
		}
		bin, err := gobin.Open(path)
		if err != nil {
			continue
		}
		if mode := bin.Settings["-buildmode"]; mode == "c-shared" {
			return bin
		}
		bin.Close() // a plugin, without a runtime of its own
	}
	return nil
}

// startsLike says whether a file's first bytes are those in memory: its headers and
// notes, with the build ID.
func startsLike(path string, mem io.ReaderAt, addr uint64) bool {
	const first = 2 << 10
	f, err := regular.Open(path) // the program may have put something else there
	if err != nil {
		return false
	}
	defer f.Close()
	var want, have [first]byte
	if _, err := f.ReadAt(want[:], 0); err != nil {
		return false
	}
	_, err = mem.ReadAt(have[:], int64(addr))
	return err == nil && bytes.Equal(want[:], have[:])
}

// lookForLibrary looks whether a program that is not Go's has loaded a Go library by
// now: at first often, then once a second, a list of mappings each time. What it
// finds is told as another program of the same process.
func (s *Source) lookForLibrary(p *process, now time.Time) {
	if p.bin != nil || p.beside || !errors.Is(p.attachErr, gobin.ErrNotGo) || now.Before(p.lookAt) {
		return
	}
	p.lookAt = now.Add(min(lookFirst<<min(p.looks, 10), lookLast))
	p.looks++
	err := p.openLibrary(s.mapper, p.readTID, p.attachErr)
	if p.bin == nil {
		return
	}
	if err != nil {
		p.attachErr, p.program.WhyNot = err, err.Error()
		s.gap(p.key, "the Go runtime of "+p.program.Name, err)
	} else {
		s.setProfiling(p, false)
	}
	s.giveProgram(p)
}
