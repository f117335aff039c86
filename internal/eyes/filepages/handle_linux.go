package filepages

import (
	"bytes"
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// readUpTo reads a file of /proc that is no longer than most.
func readUpTo(name string, most int) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var text bytes.Buffer
	if n, err := text.ReadFrom(&limited{f, most + 1}); err != nil || n > int64(most) {
		return nil, cmp.Or(err, errors.New("it is too long"))
	}
	return text.Bytes(), nil
}

type limited struct {
	from *os.File
	left int
}

func (l *limited) Read(b []byte) (int, error) {
	n, err := l.from.Read(b[:min(len(b), max(1, l.left))])
	l.left -= n
	return n, err
}

// handle is a file by its place in a file system, not opened (open(2), O_PATH).
type handle struct {
	fd   int
	stat unix.Stat_t
	kind sample.FileKind
}

func (h *handle) close()     { unix.Close(h.fd) }
func (h *handle) id() id     { return id{uint64(h.stat.Dev), h.stat.Ino} }
func (h *handle) at() string { return "/proc/self/fd/" + strconv.Itoa(h.fd) }

// examine takes a handle that was just opened: a regular file whose file system answers. Its mount is known
// before the file system is asked anything. It closes what it refuses.
func (l *looking) examine(fd int) (*handle, error) {
	h := &handle{fd: fd}
	err := l.examined(h)
	if err != nil {
		h.close()
		return nil, err
	}
	return h, nil
}

func (l *looking) examined(h *handle) error {
	mount, err := l.mountOf(h.fd)
	if err != nil {
		return err
	}
	m, known := l.mounts[mount]
	switch {
	case known:
	case l.pseudo[mount]:
		return errNot
	case uint64(mount) != l.memfd.ino:
		return errForeign
	}
	if err := unix.Fstat(h.fd, &h.stat); err != nil {
		return err
	}
	switch {
	case !known && uint64(h.stat.Dev) != l.memfd.dev:
		return errForeign
	case h.stat.Mode&unix.S_IFMT != unix.S_IFREG:
		return errNot
	case !known:
		h.kind = sample.FileShm
	case m.IsMemory():
		h.kind = sample.FileTmpfs
	default:
		h.kind = sample.FileCache
	}
	return nil
}

// mountOf is the ID of the mount that a descriptor of ours leads to (proc_pid_fdinfo(5)).
func (l *looking) mountOf(fd int) (int, error) {
	b, err := os.ReadFile(filepath.Join("/proc/self/fdinfo", strconv.Itoa(fd)))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(b)) {
		if id, ok := strings.CutPrefix(line, "mnt_id:"); ok {
			return strconv.Atoi(strings.TrimSpace(id))
		}
	}
	return 0, errors.New("the kernel does not say which mount a file is on")
}
