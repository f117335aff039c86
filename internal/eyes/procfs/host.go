package procfs

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

var (
	errMeminfo  = errors.New("malformed meminfo")
	errPressure = errors.New("malformed pressure")
)

// HostWatcher reads the machine's memory again and again from open files. It is
// not safe for concurrent use.
type HostWatcher struct {
	meminfo  *os.File
	pressure *os.File // nil: the kernel has no PSI, or it is off (psi=1)
	noPSI    error
	buf      [4096]byte
}

// WatchHost opens ROOT/meminfo and, where there is one, ROOT/pressure/memory.
// The caller closes the HostWatcher.
func WatchHost(root string) (*HostWatcher, error) {
	f, err := open(filepath.Join(root, "meminfo"))
	if err != nil {
		return nil, fmt.Errorf("watch the machine's memory: %w", err)
	}
	w := &HostWatcher{meminfo: f}
	w.pressure, w.noPSI = open(filepath.Join(root, "pressure", "memory"))
	return w, nil
}

// Host fills h. It allocates nothing.
func (w *HostWatcher) Host(h *sample.Host) error {
	n, err := pread(w.meminfo, w.buf[:])
	if err != nil {
		return fmt.Errorf("read meminfo: %w", err)
	}
	return parseMeminfo(h, w.buf[:n])
}

// Pressure fills p. The error wraps fs.ErrNotExist or EOPNOTSUPP where the
// kernel keeps no PSI. It allocates nothing.
func (w *HostWatcher) Pressure(p *sample.Pressure) error {
	if w.pressure == nil {
		return w.noPSI
	}
	n, err := pread(w.pressure, w.buf[:])
	if err != nil {
		return fmt.Errorf("read memory pressure: %w", err)
	}
	return parsePressure(p, w.buf[:n])
}

// Close closes the files.
func (w *HostWatcher) Close() {
	w.meminfo.Close()
	if w.pressure != nil {
		w.pressure.Close()
	}
}

// parseMeminfo parses the lines "MemTotal: N kB" and "MemAvailable: N kB" (since
// Linux 3.14) of meminfo.
func parseMeminfo(h *sample.Host, b []byte) error {
	total, ok1 := keyed(b, "MemTotal:")
	available, ok2 := keyed(b, "MemAvailable:")
	if !ok1 || !ok2 {
		return errMeminfo
	}
	*h = sample.Host{Total: total, Available: available}
	return nil
}

// keyed is the value in kB of the line that begins with key.
func keyed(b []byte, key string) (sample.Bytes, bool) {
	for len(b) > 0 {
		var line []byte
		line, b = cutLine(b)
		if len(line) >= len(key) && string(line[:len(key)]) == key {
			return parseKB(line[len(key):])
		}
	}
	return 0, false
}

// parseKB parses "  1234 kB".
func parseKB(b []byte) (sample.Bytes, bool) {
	f := fields{b: b}
	n, ok := parseUint(f.next())
	if !ok || n > 1<<53 || string(f.next()) != "kB" {
		return 0, false
	}
	return sample.Bytes(n) * sample.KiB, true
}

// cutLine takes the first line off b.
func cutLine(b []byte) (line, rest []byte) {
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		return b[:i], b[i+1:]
	}
	return b, nil
}

// parsePressure parses the two lines of a PSI file:
// "some avg10=0.00 avg60=0.00 avg300=0.00 total=0", averages in percent and the
// total in microseconds (Documentation/accounting/psi.rst).
func parsePressure(p *sample.Pressure, b []byte) error {
	var out sample.Pressure
	someLine, rest := cutLine(b)
	fullLine, _ := cutLine(rest)
	ok1 := parsePSI(someLine, "some", &out.Some10, &out.SomeTotal)
	ok2 := parsePSI(fullLine, "full", &out.Full10, &out.FullTotal)
	if !ok1 || !ok2 {
		return errPressure
	}
	*p = out
	return nil
}

// parsePSI parses one line of a PSI file.
func parsePSI(line []byte, name string, avg10 *float64, total *time.Duration) bool {
	f := fields{b: line}
	if string(f.next()) != name {
		return false
	}
	avg, ok1 := bytes.CutPrefix(f.next(), []byte("avg10="))
	f.next()
	f.next()
	us, ok2 := bytes.CutPrefix(f.next(), []byte("total="))
	whole, hundredths, ok3 := bytes.Cut(avg, []byte("."))
	w, ok4 := parseUint(whole)
	h, ok5 := parseUint(hundredths)
	n, ok6 := parseUint(us)
	if !ok1 || !ok2 || !ok3 || !ok4 || !ok5 || !ok6 || len(hundredths) != 2 || w > 100 || n > 1<<52 {
		return false
	}
	*avg10 = float64(w) + float64(h)/100
	*total = time.Duration(n) * time.Microsecond
	return true
}
