package gomem

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/eyes/gobin"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// TestTheCallsOfARunningGoroutineAreToldAtTheEnd asks of goroutines that run what they are inside of, with nothing
// but their stacks: as at the end of a process, when the registers of its threads are gone.
func TestTheCallsOfARunningGoroutineAreToldAtTheEnd(t *testing.T) {
	for _, version := range toolchains {
		t.Run(version, func(t *testing.T) {
			path := hwtest.Build(t, filepath.Join("testdata", "spin"), hwtest.BuildOptions{Toolchain: version})
			p := hwtest.StartPiped(t, exec.Command(path))
			if got := p.Line(); got != "both run" {
				t.Fatal(got)
			}
			if err := syscall.Kill(p.PID, syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			r := attachedTo(t, p.PID, path)
			stats := NewStats(r)
			groups, err := stats.GoroutinesAtEnd()
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range [][]string{{"main.middle", "main.direct"}, {"main.(*pages).fill", "main.through"}} {
				if !slices.ContainsFunc(groups, func(g sample.GoroutineGroup) bool { return inOrder(r, g, want) }) {
					t.Errorf("no goroutine is inside %v: %v", want, namesOf(r, groups))
				}
			}
			if !slices.ContainsFunc(groups, func(g sample.GoroutineGroup) bool { return g.State == "running" && len(g.Stack) > 2 }) {
				t.Errorf("no goroutine ran: %v", namesOf(r, groups))
			}
			if groups, err = stats.Goroutines(); err != nil {
				t.Fatal(err)
			}
			for _, g := range groups {
				if g.State == "running" && len(g.Stack) > 0 {
					t.Errorf("of a program that goes on, a running goroutine has a stack: %v", namesOf(r, groups))
				}
			}
		})
	}
}

func attachedTo(t *testing.T, pid int, path string) *Runtime {
	t.Helper()
	bin, err := gobin.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { bin.Close() })
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { mem.Close() })
	r, err := Attach(mem, bin, 0)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// inOrder reports whether a group's stack has these functions, innermost first.
func inOrder(r *Runtime, g sample.GoroutineGroup, names []string) bool {
	for _, pc := range g.Stack {
		if f, ok := r.goroutines.code.bin.FuncAt(pc - r.goroutines.code.bias); ok && len(names) > 0 && f.Name() == names[0] {
			names = names[1:]
		}
	}
	return len(names) == 0
}

func namesOf(r *Runtime, groups []sample.GoroutineGroup) (out [][]string) {
	for _, g := range groups {
		list := []string{g.State}
		for _, pc := range g.Stack {
			f, _ := r.goroutines.code.bin.FuncAt(pc - r.goroutines.code.bias)
			list = append(list, f.Name())
		}
		out = append(out, list)
	}
	return out
}
