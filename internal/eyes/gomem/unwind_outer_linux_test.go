package gomem_test

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
	"github.com/highwater-go/highwater/internal/eyes/gomem"
	"github.com/highwater-go/highwater/internal/eyes/gostats"
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
			stats, bin := attachedTo(t, p.PID, path)
			groups, err := stats.GoroutinesAtEnd()
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range [][]string{{"main.middle", "main.direct"}, {"main.(*pages).fill", "main.through"}} {
				if !slices.ContainsFunc(groups, func(g sample.GoroutineGroup) bool { return inOrder(bin, g, want) }) {
					t.Errorf("no goroutine is inside %v: %v", want, namesOf(bin, groups))
				}
			}
			if !slices.ContainsFunc(groups, func(g sample.GoroutineGroup) bool { return g.State == "running" && len(g.Stack) > 2 }) {
				t.Errorf("no goroutine ran: %v", namesOf(bin, groups))
			}
			if groups, err = stats.Goroutines(); err != nil {
				t.Fatal(err)
			}
			for _, g := range groups {
				if g.State == "running" && len(g.Stack) > 0 {
					t.Errorf("of a program that goes on, a running goroutine has a stack: %v", namesOf(bin, groups))
				}
			}
		})
	}
}

func attachedTo(t *testing.T, pid int, path string) (*gostats.Stats, *gobin.Binary) {
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
	r, err := gomem.Attach(mem, bin, 0)
	if err != nil {
		t.Fatal(err)
	}
	return gostats.New(r), bin
}

// inOrder reports whether a group's stack has these functions, innermost first.
func inOrder(bin *gobin.Binary, g sample.GoroutineGroup, names []string) bool {
	for _, pc := range g.Stack {
		if f, ok := bin.FuncAt(pc); ok && len(names) > 0 && f.Name() == names[0] {
			names = names[1:]
		}
	}
	return len(names) == 0
}

func namesOf(bin *gobin.Binary, groups []sample.GoroutineGroup) (out [][]string) {
	for _, g := range groups {
		list := []string{g.State}
		for _, pc := range g.Stack {
			f, _ := bin.FuncAt(pc)
			list = append(list, f.Name())
		}
		out = append(out, list)
	}
	return out
}
