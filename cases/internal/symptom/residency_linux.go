package symptom

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// residency adds up the anonymous pages that are present, by /proc/PID/smaps:
// of the Go heap, which is the run of touching mappings around an address in
// it, and of everything else.
func residency(pid int, heapAddress uint64) (heap, outside uint64, err error) {
	f, err := os.Open(fmt.Sprintf("/proc/%d/smaps", pid))
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	runs, err := parseRuns(f)
	for _, r := range runs {
		if heapAddress >= r.from && heapAddress < r.to {
			heap += r.anonymous
		} else {
			outside += r.anonymous
		}
	}
	return heap, outside, err
}

// run is mappings that touch: a Go heap is one, of arenas in use and reserved.
type run struct{ from, to, anonymous uint64 }

func parseRuns(smaps io.Reader) ([]run, error) {
	var runs []run
	lines := bufio.NewScanner(smaps)
	for lines.Scan() {
		first, rest, _ := strings.Cut(lines.Text(), " ")
		if a, b, ok := strings.Cut(first, "-"); ok {
			from, _ := strconv.ParseUint(a, 16, 64)
			to, _ := strconv.ParseUint(b, 16, 64)
			if n := len(runs); n > 0 && runs[n-1].to == from {
				runs[n-1].to = to
			} else {
				runs = append(runs, run{from: from, to: to})
			}
			continue
		}
		if first == "Anonymous:" && len(runs) > 0 {
			kb, _ := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			runs[len(runs)-1].anonymous += kb << 10
		}
	}
	return runs, lines.Err()
}
