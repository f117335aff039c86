package gomem_test

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/eyes/gomem"
)

// trace stops every thread by ptrace and calls fn with their registers, on a
// thread of its own.
func (p *target) trace(fn func(gomem.Registers)) {
	p.t.Helper()
	hwtest.Need(p.t, hwtest.Ptrace)
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and let the thread end with the goroutine: it is the tracer
		defer close(done)
		threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", p.pid))
		if err != nil {
			done <- err
			return
		}
		stopped := make(map[int]unix.PtraceRegs)
		for _, thread := range threads {
			tid, _ := strconv.Atoi(thread.Name())
			regs, err := stop(tid)
			if err != nil {
				done <- fmt.Errorf("stop thread %d: %w", tid, err)
				return
			}
			stopped[tid] = regs
		}
		fn(func(tid int) (pc, sp uint64, ok bool) {
			regs, ok := stopped[tid]
			return regs.Rip, regs.Rsp, ok
		})
		for tid := range stopped {
			unix.PtraceDetach(tid)
		}
	}()
	for err := range done {
		p.t.Fatal(err)
	}
}

func stop(tid int) (regs unix.PtraceRegs, err error) {
	if err := unix.PtraceSeize(tid); err != nil {
		return regs, err
	}
	if err := unix.PtraceInterrupt(tid); err != nil {
		return regs, err
	}
	var status unix.WaitStatus
	if _, err := unix.Wait4(tid, &status, unix.WALL, nil); err != nil {
		return regs, err
	}
	return regs, unix.PtraceGetRegs(tid, &regs)
}

func TestRunningGoroutinesOfAStoppedProgramAreUnwoundByTheirRegisters(t *testing.T) {
	for _, b := range builds() {
		t.Run(b.String(), func(t *testing.T) {
			p := start(t, b)
			p.ask("spin 3")
			p.trace(func(registers gomem.Registers) {
				groups, err := p.stats.GoroutinesAt(registers)
				if err != nil {
					t.Error(err)
				}
				spinning := 0
				for _, g := range groups {
					if p.names(g, "main.spin") && p.names(g, "runtime.goexit") {
						spinning += g.Count
					}
				}
				if spinning != 3 {
					t.Errorf("%d of 3 goroutines for one P are shown in main.spin: %+v", spinning, groups)
				}
			})
		})
	}
}
