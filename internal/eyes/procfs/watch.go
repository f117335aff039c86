package procfs

import (
	"fmt"
	"os"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// Watcher reads one process's resident set again and again. Its files stay
// open: they belong to the process and not to its pid, so that a later process
// with the same pid is never mistaken for it. It is not safe for concurrent use.
type Watcher struct {
	key         sample.ProcessKey
	stat, statm *os.File
	page        sample.Bytes
	buf         [1024]byte // stat is under 400 bytes, its name at most 64
}

// Watch opens the process that has this pid now. The caller closes the Watcher.
func Watch(root string, pid int) (*Watcher, error) {
	w := &Watcher{page: sample.Bytes(os.Getpagesize())}
	if err := w.open(root, pid); err != nil {
		w.Close()
		return nil, fmt.Errorf("watch process %d: %w", pid, gone(err))
	}
	return w, nil
}

// open opens both files. statm first: if the stat file then read belongs to a
// process, and statm is still readable, both are of one life.
func (w *Watcher) open(root string, pid int) (err error) {
	if w.statm, err = open(pidPath(root, pid, "statm")); err != nil {
		return err
	}
	if w.stat, err = open(pidPath(root, pid, "stat")); err != nil {
		return err
	}
	st, err := w.readStat()
	if err != nil {
		return err
	}
	if _, err := pread(w.statm, w.buf[:]); err != nil {
		return err
	}
	w.key = sample.ProcessKey{PID: pid, Start: st.start}
	return nil
}

// Key names the process.
func (w *Watcher) Key() sample.ProcessKey { return w.key }

// Read fills r. The error is ErrGone once the process has ended or is a zombie,
// and r is then unchanged. It allocates nothing.
func (w *Watcher) Read(r *sample.Resident) error {
	st, err := w.readStat()
	if err != nil {
		return err
	}
	if st.state.Ended() {
		return ErrGone // statm of a zombie is all zero, which nobody observed
	}
	n, err := pread(w.statm, w.buf[:])
	if err != nil {
		return gone(err)
	}
	total, shared, err := parseStatm(w.buf[:n], w.page)
	if err != nil {
		return err
	}
	*r = sample.Resident{
		Total:   total,
		Shared:  shared,
		Threads: st.threads,
		User:    time.Duration(st.utime) * clockTick,
		System:  time.Duration(st.stime) * clockTick,
		Majflt:  st.majflt,
	}
	return nil
}

// readStat reads the open stat file.
func (w *Watcher) readStat() (stat, error) {
	n, err := pread(w.stat, w.buf[:])
	if err != nil {
		return stat{}, gone(err)
	}
	return parseStat(w.buf[:n])
}

// Close closes the files. The process does not notice.
func (w *Watcher) Close() {
	for _, f := range []*os.File{w.stat, w.statm} {
		if f != nil {
			f.Close()
		}
	}
}
