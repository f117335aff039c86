package procfs

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
)

// answers knows which pages of a process can be had without asking somebody who may
// never answer. Of a file of FUSE, or of a network's, only those are read that are in
// the process's memory already: to wait for another may be a sleep that not even
// SIGKILL ends (fs/fuse/dev.c, request_wait_answer). What a hostile program maps
// between the look and the read is still read; for that there are readers.
type answers struct {
	root string
	pid  int

	mu      sync.Mutex
	mapper  Mapper
	devices map[string]bool // by "major:minor": its files answer
	known   []mapped        // by address
	next    time.Time       // before which mappings are not read again
	pagemap *os.File
}

// mapped is memory that is all alike: neighbours are one.
type mapped struct {
	start, end uint64
	answers    bool
}

// rereadShare bounds what reading the mappings again takes: a twentieth of the time.
const rereadShare = 20

// local are the file systems whose pages this kernel reads itself. An overlay is that
// of a container's, over one of these as a rule.
var local = []string{"bcachefs", "btrfs", "erofs", "ext2", "ext3", "ext4", "f2fs", "hugetlbfs", "overlay", "ramfs", "rootfs", "squashfs", "tmpfs", "devtmpfs",
	"xfs", "zfs"}

// has says whether all of [addr, addr+n) may be read. The error is ErrStuck where a
// page would have to be asked for. What is not known to be mapped may be read, too:
// the kernel then says that it is not.
func (a *answers) has(addr uint64, n int) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	end := addr + uint64(n)
	if !a.isKnown(addr, end) && time.Now().After(a.next) {
		a.reread()
	}
	for i := a.at(addr); i < len(a.known) && a.known[i].start < end; i++ {
		if m := a.known[i]; !m.answers {
			if err := a.present(max(addr, m.start), min(end, m.end)); err != nil {
				return err
			}
		}
	}
	return nil
}

// at is the first that ends behind an address.
func (a *answers) at(addr uint64) int {
	return sort.Search(len(a.known), func(i int) bool { return a.known[i].end > addr })
}

// isKnown says whether all of it was mapped when that was looked at.
func (a *answers) isKnown(addr, end uint64) bool {
	for i := a.at(addr); i < len(a.known) && a.known[i].start <= addr; i++ {
		if addr = a.known[i].end; addr >= end {
			return true
		}
	}
	return false
}

// reread reads the mappings. Where they cannot be read that is known which was.
func (a *answers) reread() {
	began := time.Now()
	defer func() { a.next = time.Now().Add(rereadShare * time.Since(began)) }()
	if a.devices == nil {
		a.devices = devicesOf(a.root, "self", strconv.Itoa(a.pid))
	}
	if err := a.mapper.readMappings(a.root, a.readTID(), "maps"); err != nil {
		return
	}
	a.known = a.known[:0]
	for i := range a.mapper.mappings {
		m := &a.mapper.mappings[i]
		ok := !m.FileBacked() || isLocal(a.devices, m.device)
		if last := len(a.known) - 1; last >= 0 && a.known[last].end == m.Start && a.known[last].answers == ok {
			a.known[last].end = m.End
			continue
		}
		a.known = append(a.known, mapped{m.Start, m.End, ok})
	}
	a.mapper = Mapper{} // what is needed of it is known now
}

// readTID is a thread through which the process is looked at: its first, or where that has ended, as
// of one that stands at its exit, another.
func (a *answers) readTID() int {
	if st, err := StateOf(a.root, a.pid); err != nil || !st.Ended() {
		return a.pid
	}
	threads, _ := Threads(a.root, a.pid)
	for _, tid := range threads {
		if st, err := StateOf(a.root, tid); err == nil && !st.Ended() {
			return tid
		}
	}
	return a.pid
}

// present says whether pages are in memory (Documentation/admin-guide/mm/pagemap.rst:
// bit 63), or swapped out, which the kernel answers itself (62).
func (a *answers) present(from, to uint64) error {
	if a.pagemap == nil {
		f, err := os.Open(pidPath(a.root, a.readTID(), "pagemap"))
		if err != nil {
			return gone(err)
		}
		a.pagemap = f
	}
	page := uint64(os.Getpagesize())
	var words [512]byte
	for first := from / page; first*page < to; {
		n := min((to-first*page+page-1)/page, uint64(len(words)/8))
		if _, err := a.pagemap.ReadAt(words[:n*8], int64(first*8)); err != nil {
			return fmt.Errorf("pages of process %d: %w", a.pid, gone(err))
		}
		for i := range n {
			if binary.NativeEndian.Uint64(words[i*8:])>>62 == 0 {
				return ErrStuck
			}
		}
		first += n
	}
	return nil
}

func (a *answers) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.pagemap != nil {
		a.pagemap.Close()
	}
}

// mounts is what devicesOf read and said last: most programs of a machine have the same mounts.
var mounts struct {
	mu    sync.Mutex
	text  []byte
	found map[string]bool
}

// devicesOf says of the devices that processes have mounted whether their files answer
// (proc_pid_mountinfo(5)). The map is not to be changed.
func devicesOf(root string, pids ...string) map[string]bool {
	var text []byte
	for _, pid := range pids {
		b, err := os.ReadFile(filepath.Join(root, pid, "mountinfo"))
		if err == nil {
			text = append(text, b...)
		}
	}
	m := &mounts
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.found == nil || !bytes.Equal(text, m.text) {
		m.text, m.found = text, answering(string(text))
	}
	return m.found
}

// answering reads mounts, a line each.
func answering(text string) map[string]bool {
	found := map[string]bool{}
	for line := range strings.Lines(text) {
		before, after, ok := strings.Cut(line, " - ")
		words, kind := strings.Fields(before), strings.Fields(after)
		if ok && len(words) > 2 && len(kind) > 0 {
			found[words[2]] = slices.Contains(local, kind[0])
		}
	}
	return found
}

// isLocal says that the files of a device answer. One that is mounted nowhere in sight,
// as that below a container's overlay, is a disk where it has a driver's number: FUSE and
// networks get theirs from the kernel's major 0.
func isLocal(devices map[string]bool, device string) bool {
	answers, listed := devices[device]
	return listed && answers || !listed && device != "" && !strings.HasPrefix(device, "0:")
}
