package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/eyes/gobin"
	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/record/recording"
)

// bomb builds a program that says untrue things of itself, and where it must write some.
func bomb(t *testing.T) (path, allspans string) {
	t.Helper()
	path = hwtest.Build(t, "testdata/bomb", hwtest.BuildOptions{Ldflags: "-checklinkname=0"})
	bin, err := gobin.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer bin.Close()
	layout, err := bin.Layout()
	if err != nil {
		t.Fatal(err)
	}
	offset, ok := layout.Offset("runtime.mheap", "allspans")
	if !ok {
		t.Fatal("no offset of mheap_.allspans")
	}
	return path, strconv.FormatUint(offset, 10)
}

// The most that a watcher took of memory is the kernel's figure, in MiB. Without bounds:
// 450 of the sites, 690 of the deep stacks, 2000 of the list of spans.
func TestAProgramTakesNoMoreOfItsWatchersMemoryThanStated(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Ptrace)
	program, allspans := bomb(t)
	for _, c := range []struct {
		name, args, flags, says string
		most                    int
	}{
		{"many allocation sites", "-buckets 400000", "", "it has more allocation sites, or deeper stacks, than are followed", 400},
		{"sites of deep stacks", "-buckets 4000 -frames 1000", "", "than are followed", 560},
		{"a circle of sites", "-buckets 1000 -circle", "", "the list of buckets has no end", 128},
		{"a list of spans", "-span-list 60000000 -allspans " + allspans, "--heap every=1s", "60000000 spans: the analysis would take more memory than it may", 128},
		{"a span in each of many arenas", "-spans 40000 -allspans " + allspans, "--heap every=1s", "", 768},
		{"goroutines without number", "-goroutines 1099511627776", "", "runtime.allglen is 1099511627776", 128},
		{"threads", "-threads 9000", "", "", 128},
	} {
		t.Run(c.name, func(t *testing.T) {
			stranger := startStranger(t, exec.Command(program, strings.Fields(c.args)...))
			if !stranger.lines.Scan() || stranger.lines.Text() != "ready" {
				hwtest.Need(t, func() error { return fmt.Errorf("needs a machine for %s: %s", c.name, stranger.lines.Text()) })
			}
			path := filepath.Join(t.TempDir(), "b.hwm")
			cmd := exec.Command(highwater(t), append([]string{"watch", stranger.pid(), "-o", path}, strings.Fields(c.flags)...)...)
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			gaps := gapsOnce(t, path, func(r *recording.Reader, gaps string) bool {
				if c.says != "" {
					return strings.Contains(gaps, c.says)
				}
				ticks, _ := r.Ticks()
				heaps, _ := r.Heaps()
				return ticks > 3 && (c.flags == "" || len(heaps) > 0 || strings.Contains(gaps, "what retains the heap"))
			})
			cmd.Process.Signal(syscall.SIGINT)
			took := mostResident(cmd.Process.Pid)
			err := cmd.Wait()
			if err != nil || took > c.most {
				t.Errorf("%v: it took %d MiB, and may take %d\n%s", err, took, c.most, out.String())
			}
			if st, err := procfs.StateOf("/proc", stranger.cmd.Process.Pid); err != nil || st.Ended() {
				t.Errorf("the program is in state %c: %v", st, err)
			}
			if !strings.Contains(gaps, c.says) {
				t.Errorf("no %q in\n%s", c.says, gaps)
			}
			t.Logf("%d MiB", took)
		})
	}
}

// mostResident is how many MiB a process had at most, once it has ended. What wait says of it
// (getrusage(2), ru_maxrss) begins with what its parent had at the fork.
func mostResident(pid int) (most int) {
	for {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		_, after, ok := strings.Cut(string(status), "VmHWM:")
		if err != nil || !ok {
			return most
		}
		kb, _ := strconv.Atoi(strings.Fields(after)[0])
		most = max(most, kb>>10)
		time.Sleep(time.Millisecond) // nothing tells
	}
}

// gapsOnce is what the recording of a watch that goes on says it did not see, once it has what it
// is to have, or has had time for it.
func gapsOnce(t *testing.T, path string, has func(r *recording.Reader, gaps string) bool) (says string) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) { // nothing tells
		r, err := recording.Open(path)
		if err != nil {
			continue // not yet begun
		}
		gaps, err := r.Gaps()
		says = fmt.Sprint(gaps)
		done := err == nil && has(r, says)
		if r.Close(); done {
			break
		}
	}
	return says
}
