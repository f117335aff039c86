package procfs

import (
	"bytes"
	"errors"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// clockTick is the unit of times in /proc/PID/stat: USER_HZ is 100 on every
// architecture that Go runs on.
const clockTick = time.Second / 100

var (
	errStat  = errors.New("malformed stat")
	errStatm = errors.New("malformed statm")
)

// stat is the part of /proc/PID/stat that is used.
type stat struct {
	state        State  // field 3
	ppid         int    // 4
	majflt       uint64 // 12
	utime, stime uint64 // 14, 15, in clock ticks
	threads      int    // 20
	start        uint64 // 22, in clock ticks since boot
}

// parseStat parses /proc/PID/stat. The name in field 2 may hold spaces and
// parentheses, so fields are counted from the last closing one.
func parseStat(b []byte) (stat, error) {
	end := bytes.LastIndexByte(b, ')')
	if end < 0 {
		return stat{}, errStat
	}
	f := fields{b: b[end+1:]}
	var st stat
	for i := 3; i <= 22; i++ {
		w := f.next()
		if len(w) == 0 {
			return stat{}, errStat
		}
		ok := true
		switch i {
		case 3:
			st.state = State(w[0])
		case 4:
			st.ppid, ok = parseInt(w)
		case 12:
			st.majflt, ok = parseUint(w)
		case 14:
			st.utime, ok = parseUint(w)
		case 15:
			st.stime, ok = parseUint(w)
		case 20:
			st.threads, ok = parseInt(w)
		case 22:
			st.start, ok = parseUint(w)
		}
		if !ok {
			return stat{}, errStat
		}
	}
	return st, nil
}

// parseStatm parses the resident and the shared field of /proc/PID/statm, which
// counts pages.
func parseStatm(b []byte, pageSize sample.Bytes) (resident, shared sample.Bytes, err error) {
	f := fields{b: b}
	f.next()
	r, ok1 := parseUint(f.next())
	s, ok2 := parseUint(f.next())
	const most = 1 << 44 // pages; no address space is larger
	if !ok1 || !ok2 || r > most || s > most {
		return 0, 0, errStatm
	}
	return sample.Bytes(r) * pageSize, sample.Bytes(s) * pageSize, nil
}

// fields walks over words between spaces without allocating.
type fields struct{ b []byte }

// next is the next word, empty at the end.
func (f *fields) next() []byte {
	b := f.b
	for len(b) > 0 && isSpace(b[0]) {
		b = b[1:]
	}
	n := 0
	for n < len(b) && !isSpace(b[n]) {
		n++
	}
	f.b = b[n:]
	return b[:n]
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' }

// parseUint parses a decimal number; false where b is none or overflows.
func parseUint(b []byte) (uint64, bool) {
	if len(b) == 0 || len(b) > 20 {
		return 0, false
	}
	var n uint64
	for _, c := range b {
		d := uint64(c - '0')
		if d > 9 || n > (1<<64-1-d)/10 {
			return 0, false
		}
		n = n*10 + d
	}
	return n, true
}

// parseInt parses a decimal number that fits a pid or a count.
func parseInt(b []byte) (int, bool) {
	n, ok := parseUint(b)
	if !ok || n > 1<<31-1 {
		return 0, false
	}
	return int(n), true
}

// parseHex parses a hexadecimal number without a prefix.
func parseHex(b []byte) (uint64, bool) {
	if len(b) == 0 || len(b) > 16 {
		return 0, false
	}
	var n uint64
	for _, c := range b {
		switch {
		case c >= '0' && c <= '9':
			n = n<<4 | uint64(c-'0')
		case c >= 'a' && c <= 'f':
			n = n<<4 | uint64(c-'a'+10)
		default:
			return 0, false
		}
	}
	return n, true
}
