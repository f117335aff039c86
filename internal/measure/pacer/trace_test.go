package pacer

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
)

// TestGoalsAreThoseOfARealProgram runs a program of constant live heap and holds
// the goals that its own GC trace tells against the formulas, collection by
// collection: from what one found live, and the stacks and globals it scanned,
// follows the goal of the next.
func TestGoalsAreThoseOfARealProgram(t *testing.T) {
	for _, set := range []struct {
		env     []string
		setting Setting
	}{
		{[]string{"GOGC=100"}, Setting{100, none}},
		{[]string{"GOGC=20"}, Setting{20, none}},
		{[]string{"GOGC=300"}, Setting{300, none}},
		{[]string{"GOGC=off", "GOMEMLIMIT=100MiB"}, Setting{-1, 100 << 20}},
		{[]string{"GOGC=100", "GOMEMLIMIT=60MiB"}, Setting{100, 60 << 20}},
	} {
		t.Run(strings.Join(set.env, " "), func(t *testing.T) {
			hwtest.Need(t)
			lines := traceOf(t, set.env)
			checked := 0
			for i := 1; i < len(lines); i++ {
				before, after := lines[i-1], lines[i]
				if before.live < 40 || after.forced {
					continue // at the start whole MiB are too coarse
				}
				s := State{Marked: before.live * mib, Scanned: (before.stacks + before.globals) * mib, NonHeap: nonHeapOfProgram}
				want := s.Goal(set.setting) / mib
				// The trace cuts to whole MiB. Under a limit the goal also gives way to what
				// is mapped beyond it for a while, down to what is live.
				low, high := want-1.5-float64(set.setting.GOGC+100)/100, want+1.5+float64(set.setting.GOGC+100)/100
				if set.setting.limited() {
					low = before.live - 1
				}
				if after.goal < low || after.goal > high {
					t.Errorf("after %+v the goal is %.0f MiB, the formula says %.1f", before, after.goal, want)
				}
				checked++
			}
			if checked == 0 {
				t.Errorf("none of %d collections could be compared", len(lines))
			}
		})
	}
}

// nonHeapOfProgram is about what testdata/traced has mapped beside its heap.
const nonHeapOfProgram = 4 * mib

// traced is one line of GODEBUG=gctrace=1, in MiB.
type traced struct {
	start, end, live, goal, stacks, globals float64
	forced                                  bool
}

func traceOf(t *testing.T, env []string) (lines []traced) {
	t.Helper()
	c := exec.CommandContext(t.Context(), hwtest.Build(t, "testdata/traced", hwtest.BuildOptions{}))
	c.Env = append(append(os.Environ(), "GODEBUG=gctrace=1"), env...)
	var said bytes.Buffer
	c.Stderr = &said
	if err := c.Run(); err != nil {
		t.Fatalf("%v\n%s", err, said.Bytes())
	}
	for scan := bufio.NewScanner(&said); scan.Scan(); {
		var l traced
		_, rest, ok := strings.Cut(scan.Text(), " ms cpu, ")
		if !ok {
			continue
		}
		_, err := fmt.Sscanf(rest, "%f->%f->%f MB, %f MB goal, %f MB stacks, %f MB globals", &l.start, &l.end, &l.live, &l.goal, &l.stacks, &l.globals)
		if err != nil {
			t.Fatalf("%q: %v", scan.Text(), err)
		}
		l.forced = strings.HasSuffix(rest, "(forced)")
		lines = append(lines, l)
	}
	return lines
}
