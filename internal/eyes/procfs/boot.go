package procfs

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// BootTime is when the machine started, by its clock of now: btime of /proc/stat
// (proc_stat(5)), whole seconds.
func BootTime(root string) (time.Time, error) {
	b, err := os.ReadFile(filepath.Join(root, "stat"))
	if err != nil {
		return time.Time{}, fmt.Errorf("read when the machine started: %w", err)
	}
	for line := range strings.Lines(string(b)) {
		if text, ok := strings.CutPrefix(line, "btime "); ok {
			n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
			if err == nil && n > 0 {
				return time.Unix(n, 0), nil
			}
		}
	}
	return time.Time{}, fmt.Errorf("read when the machine started: %s has no btime", filepath.Join(root, "stat"))
}

// Started is when a process started, by when the machine did.
func Started(boot time.Time, key sample.ProcessKey) time.Time {
	return boot.Add(time.Duration(key.Start) * clockTick)
}
