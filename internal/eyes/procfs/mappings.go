package procfs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/highwater-go/highwater/internal/words/sample"
)

var errSmaps = errors.New("malformed smaps")

// Foreign numbers are capped: vm.max_map_count is 65530 by default (1048576 on
// some distributions) and a mapping takes about 750 bytes of smaps.
const (
	maxMappings = 1 << 21
	maxSmaps    = 1 << 30
)

// Mapping is one mapping of a process and what of it is resident
// (/proc/PID/smaps, proc_pid_smaps(5)).
type Mapping struct {
	Start, End uint64  // addresses, [Start, End)
	Perms      [4]byte // "rw-p": read, write, execute, private or shared
	Offset     uint64  // in the file
	Inode      uint64  // of the file, 0 for anonymous memory
	Path       string  // of the file, or a name in brackets such as [heap], or ""
	device     string  // of the file, "8:1" as mountinfo writes it; "" for anonymous memory

	Rss                        sample.Bytes
	Anonymous                  sample.Bytes // pages of no file, and copied pages of one
	SharedClean, SharedDirty   sample.Bytes
	PrivateClean, PrivateDirty sample.Bytes
	LazyFree                   sample.Bytes // given back by MADV_FREE, not yet taken; part of Anonymous
	AnonHuge                   sample.Bytes // the part of Anonymous in transparent huge pages
	Swap                       sample.Bytes
}

// Writable says that the process may write to it.
func (m *Mapping) Writable() bool { return m.Perms[1] == 'w' }

// Accessible says that the process may use it in any way; address space that is
// only reserved is not.
func (m *Mapping) Accessible() bool {
	return m.Perms[0] == 'r' || m.Perms[1] == 'w' || m.Perms[2] == 'x'
}

// FileBacked says that it maps a file (or shared memory, which is one).
func (m *Mapping) FileBacked() bool { return m.Inode != 0 }

// Mapper reads mappings and residency. It keeps its buffers from one reading to
// the next; the zero value is ready. It is not safe for concurrent use.
type Mapper struct {
	mappings []Mapping
	spans    []sample.PageRange
	arenas   []sample.PageRange
	starts   []ThreadStart

	devices   map[string]bool // whether their files answer, see devicesOf
	devicesOf int             // the process that was asked for them
}

// Mappings lists the mappings of a process in ascending order. A thread id
// serves as well, and is what serves when the first thread has ended. The
// result is valid until the Mapper's next reading.
func (m *Mapper) Mappings(root string, tid int) ([]Mapping, error) {
	if err := m.readMappings(root, tid, "smaps"); err != nil {
		return nil, fmt.Errorf("read mappings of process %d: %w", tid, gone(err))
	}
	return m.mappings, nil
}

// Maps lists the mappings of a process in ascending order, without what of them is
// resident, which costs a walk over all pages. The result is valid until the Mapper's
// next reading.
func (m *Mapper) Maps(root string, tid int) ([]Mapping, error) {
	if err := m.readMappings(root, tid, "maps"); err != nil {
		return nil, fmt.Errorf("read mappings of process %d: %w", tid, gone(err))
	}
	return m.mappings, nil
}

// ExecutableStart is the address at which the start of a process's executable is
// mapped: what the kernel added to the file's addresses is this less where the
// file asked for. At exec that mapping is there already.
func (m *Mapper) ExecutableStart(root string, tid int) (uint64, error) {
	exe, err := Exe(root, tid)
	if err != nil {
		return 0, err
	}
	// Their sizes, in smaps, cost a walk over all pages.
	if err := m.readMappings(root, tid, "maps"); err != nil {
		return 0, fmt.Errorf("read mappings of process %d: %w", tid, gone(err))
	}
	for i := range m.mappings {
		if m := &m.mappings[i]; m.Offset == 0 && m.FileBacked() && strings.TrimSuffix(m.Path, " (deleted)") == exe {
			return m.Start, nil
		}
	}
	return 0, errors.New("the executable is not mapped")
}

// texts are buffers that all Mappers share, as each is read into for a moment; a larger one
// than keptText is not kept.
var texts = sync.Pool{New: func() any { return new([]byte) }}

const keptText = 1 << 20

// smapsTries bounds the readings of a process whose mappings change meanwhile.
const smapsTries = 4

// readMappings reads smaps, or maps, which is smaps without the sizes.
func (m *Mapper) readMappings(root string, tid int, file string) error {
	for try := 1; ; try++ {
		err := m.readMappingsOnce(root, tid, file)
		if try == smapsTries || !errors.Is(err, errSmaps) {
			return err
		}
	}
}

func (m *Mapper) readMappingsOnce(root string, tid int, file string) error {
	f, err := os.Open(pidPath(root, tid, file))
	if err != nil {
		return err
	}
	defer f.Close()
	buf := texts.Get().(*[]byte)
	defer texts.Put(buf)
	text, err := readAll(f, *buf)
	if cap(text) <= keptText {
		*buf = text
	}
	if err != nil {
		return err
	}
	if len(text) == 0 {
		return ErrGone // what the kernel says of a process without memory
	}
	m.mappings, err = parseSmaps(m.mappings, text)
	return err
}

// readAll reads f to its end into buf, which it grows as needed.
func readAll(f *os.File, buf []byte) ([]byte, error) {
	buf = buf[:0]
	for {
		if len(buf) == cap(buf) {
			if len(buf) >= maxSmaps {
				return buf, fmt.Errorf("smaps exceeds %d bytes", maxSmaps)
			}
			buf = append(buf, make([]byte, max(64<<10, len(buf)))...)[:len(buf)]
		}
		n, err := f.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if err == io.EOF {
			return buf, nil
		}
		if err != nil {
			return buf, err
		}
	}
}

// parseSmaps parses smaps over the entries of dst, whose path strings it takes
// over where they have not changed. Keys that it does not know are skipped.
func parseSmaps(dst []Mapping, b []byte) ([]Mapping, error) {
	dst = dst[:0]
	var line []byte
	for len(b) > 0 {
		line, b = cutLine(b)
		if len(line) == 0 {
			continue
		}
		if c := line[0]; c >= 'A' && c <= 'Z' {
			if len(dst) == 0 || !parseSmapsKey(&dst[len(dst)-1], line) {
				return dst, errSmaps
			}
			continue
		}
		if len(dst) == maxMappings {
			return dst, fmt.Errorf("more than %d mappings", maxMappings)
		}
		if len(dst) == cap(dst) {
			dst = append(dst, Mapping{})
		} else {
			dst = dst[:len(dst)+1]
		}
		if !parseSmapsHeader(&dst[len(dst)-1], line) {
			return dst, errSmaps
		}
	}
	dst = withoutOverlaps(dst)
	return dst, ascending(dst)
}

// withoutOverlaps takes out what the kernel tells twice: it writes smaps in
// several reads, and a mapping that meanwhile grew over its end comes again as
// a whole (proc_pid_smaps(5) makes no promise between reads). The later telling
// counts.
func withoutOverlaps(ms []Mapping) []Mapping {
	kept := ms[:0]
	for i := range ms {
		for len(kept) > 0 && kept[len(kept)-1].End > ms[i].Start && kept[len(kept)-1].Start >= ms[i].Start {
			kept = kept[:len(kept)-1]
		}
		kept = append(kept, ms[i])
	}
	return kept
}

// ascending checks what the kernel guarantees and every user relies on.
func ascending(ms []Mapping) error {
	var end uint64
	for i := range ms {
		if ms[i].Start < end || ms[i].End <= ms[i].Start {
			return errSmaps
		}
		end = ms[i].End
	}
	return nil
}

// parseSmapsHeader parses "start-end perms offset dev inode   path" and clears
// the sizes.
func parseSmapsHeader(m *Mapping, line []byte) bool {
	f := fields{b: line}
	start, end, ok := bytes.Cut(f.next(), []byte("-"))
	perms := f.next()
	if !ok || len(perms) != 4 {
		return false
	}
	old, device := m.Path, m.device
	*m = Mapping{Perms: [4]byte(perms)}
	var ok1, ok2, ok3, ok4 bool
	m.Start, ok1 = parseHex(start)
	m.End, ok2 = parseHex(end)
	m.Offset, ok3 = parseHex(f.next())
	at := f.next()
	if m.Inode, ok4 = parseUint(f.next()); m.Inode != 0 {
		m.device = deviceOf(device, at)
	}
	path := bytes.TrimLeft(f.b, " ")
	if m.Path = old; old != string(path) {
		m.Path = string(path)
	}
	return ok1 && ok2 && ok3 && ok4
}

// deviceOf writes "fd:01" as mountinfo does, "253:1"; before is what it was.
func deviceOf(before string, b []byte) string {
	major, minor, ok := bytes.Cut(b, []byte(":"))
	hi, ok1 := parseHex(major)
	lo, ok2 := parseHex(minor)
	if !ok || !ok1 || !ok2 {
		return ""
	}
	var buf [41]byte
	now := strconv.AppendUint(buf[:0], hi, 10)
	now = strconv.AppendUint(append(now, ':'), lo, 10)
	if string(now) == before {
		return before
	}
	return string(now)
}

// parseSmapsKey parses "Rss:   12 kB". Only a size that is wanted can be wrong.
func parseSmapsKey(m *Mapping, line []byte) bool {
	key, value, ok := bytes.Cut(line, []byte(":"))
	if !ok {
		return false
	}
	size := m.size(key)
	if size == nil {
		return true
	}
	*size, ok = parseKB(value)
	return ok
}

// size is the field for a key of smaps, nil if it is not kept.
func (m *Mapping) size(key []byte) *sample.Bytes {
	switch string(key) {
	case "Rss":
		return &m.Rss
	case "Anonymous":
		return &m.Anonymous
	case "Shared_Clean":
		return &m.SharedClean
	case "Shared_Dirty":
		return &m.SharedDirty
	case "Private_Clean":
		return &m.PrivateClean
	case "Private_Dirty":
		return &m.PrivateDirty
	case "LazyFree":
		return &m.LazyFree
	case "AnonHugePages":
		return &m.AnonHuge
	case "Swap":
		return &m.Swap
	}
	return nil
}
