package watch

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"syscall"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/gomem"
	"github.com/highwater-go/highwater/internal/eyes/lastbreath"
	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/record/capture"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// smallProcess is the resident size up to which a program that is no Go program
// is not worth a moment at its end, unless it is the one that was started: the
// shells and tools around the real one.
const smallProcess = 16 * sample.MiB

// handler is what the tracer tells, on its own thread, while the process in
// question stands still.
func (s *Source) handler() lastbreath.Handler {
	return lastbreath.Handler{Exec: s.onExec, Leaves: s.onLeaves, Fork: s.onFork, Thread: s.onThread, Narrowed: s.onNarrowed, Dying: s.onDying, Gone: s.onGone,
		Lost: s.onLost}
}

// onExec looks at a program right after execve and switches its heap profile on
// if that is wanted.
func (s *Source) onExec(pid int) (isGo bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if old := s.live[pid]; old != nil {
		s.event(sample.Event{At: time.Now(), Kind: sample.EventExec, Process: old.key})
		s.drop(pid)
		s.uncountChild(old) // it was seen before its execve, and is the same child after it
	}
	delete(s.forked, pid)
	s.findGroup(pid)
	p := s.add(pid, true)
	if p != nil {
		p.traced = true
		s.tellPrivilege(p)
	}
	return p != nil && p.bin != nil
}

// tellPrivilege tells of an executable whose privilege the kernel has just ignored.
func (s *Source) tellPrivilege(p *process) {
	if lost := PrivilegeLost(exeOf(p.root, p.readTID)); lost != "" {
		s.gap(p.key, "what "+p.program.Name+" does with its privilege",
			fmt.Errorf("its executable has %s, which the kernel ignores in a program that is traced: as root, or with CAP_SYS_PTRACE, highwater leaves it that", lost))
	}
}

// onFork notes a new process. It runs its parent's program until it execs, mostly
// at once; the next scan looks at one that does not. Where a scan has come before us,
// the process is known, but not that its execs will be told.
func (s *Source) onFork(parent, child int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.live[parent]; p != nil {
		p.forks = true
	}
	p := s.live[child]
	if p == nil {
		s.forked[child] = time.Now()
		return
	}
	if key, err := procfs.KeyOf(s.opts.Root, child); err == nil && key == p.key {
		p.traced = true
	}
}

// onNarrowed notes that programs that a busy process starts are found by scan
// from now on.
func (s *Source) onNarrowed(pid int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.live[pid]; p != nil {
		p.narrowed = true
		s.noteNarrowed(p)
	}
}

// noteNarrowed tells that the children of a narrowed process come too late to
// switch their heap profile on: of a process that is known to have some, for
// most busy ones never do.
func (s *Source) noteNarrowed(p *process) {
	if p.narrowed && p.forks {
		s.gap(p.key, "the start of programs that "+p.program.Name+" starts", errNarrowed)
	}
}

var errNarrowed = errors.New("it is too busy to be stopped at each of its signals, so their heap profile cannot be switched on (--follow-forks follows all the same, at a cost)")

// onDying keeps the last moment of a process.
func (s *Source) onDying(d lastbreath.Death) {
	defer s.outlive(d) // runs once the lock is free
	var dropped sample.Bytes
	if d.Status.Signal == int(syscall.SIGKILL) {
		dropped = s.ballast.drop() // first: without it we may not get a page
		defer s.ballast.over()     // until then a scan that has the lock does not take it again
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.account.dropped = dropped
	s.lookDying(d)
	s.account.dropped = 0
}

// endOf is how a process ends; a kill may be that of the kernel for memory.
func (s *Source) endOf(p *process, d lastbreath.Death) sample.ProcessMoment {
	pm := sample.ProcessMoment{Key: p.key, Signal: d.Status.Signal}
	if d.Status.Signal == 0 {
		pm.ExitCode = sample.Some(d.Status.Code)
	}
	if d.Status.Signal == int(syscall.SIGKILL) {
		s.noticeOOM(s.readGroup(), p.key, time.Now())
	}
	return pm
}

// lookDying looks at a process that is at its end.
func (s *Source) lookDying(d lastbreath.Death) {
	p := s.live[d.PID]
	if _, followed := s.forked[d.PID]; p == nil && followed {
		delete(s.forked, d.PID)
		p = s.add(d.PID, false)
	}
	if p == nil || p.held {
		return
	}
	p.held = true
	began := time.Now()
	now := s.residentOf(p, d.TID)
	pm := s.endOf(p, d)
	p.lookAt = time.Time{}
	s.lookForLibrary(p, time.Now())
	if p.bin == nil && now != nil && now.Total < smallProcess && d.PID != s.main {
		return
	}
	if now != nil && s.endsWell(d) {
		if s.letsPass(began, now.Total) {
			return
		}
		defer func() { s.wellEnded.spent(time.Now(), time.Since(began), s.endShare(), now.Total) }()
	}
	if pm.Signal == int(syscall.SIGKILL) && s.freedBefore(p, now) {
		s.tellFreed(p, pm)
		return
	}
	p.attachAt = time.Time{}
	s.attach(p, time.Now())
	m, taken := s.dying(p, d.TID, &pm, d.Deadline)
	s.drainFaults(time.Now())
	s.drainNative(time.Now())
	if freedMeanwhile(&pm) {
		s.tellFreed(p, pm)
		return
	}
	s.keepMoment(m, taken)
}

// onGone ends a process's life here.
func (s *Source) onGone(pid int, status sample.Opt[lastbreath.Status]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if pid == s.main {
		s.exit = status
	}
	delete(s.forked, pid)
	s.remove(pid, status)
}

// onLost notes that a death will not be seen.
func (s *Source) onLost(pid int, why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.live[pid]; p != nil {
		p.traced = false
		s.gap(p.key, "the state at the exit of "+p.program.Name, why)
	}
}

// add begins to watch what pid runs now; nil if it is gone. Held says that it
// stands right after its exec.
func (s *Source) add(pid int, held bool) *process {
	p, _ := s.open(pid, held)
	return p
}

// open is add, with why a process cannot be watched.
func (s *Source) open(pid int, held bool) (*process, error) {
	p, err := openProcess(s.mapper, s.opts.Root, pid)
	if err != nil {
		return nil, err
	}
	if p.bin != nil && p.mem != nil && p.bin.Supported() == nil {
		s.setProfiling(p, held)
	}
	s.enter(p)
	s.knowFaults(p)
	s.knowNative(p)
	if unread := p.bin != nil || errors.Is(p.attachErr, fs.ErrPermission); unread && p.attachErr != nil && !isNotReady(p.attachErr) {
		s.gap(p.key, "the Go runtime of "+p.program.Name, p.attachErr)
	}
	return p, nil
}

// enter takes a process in and tells of it.
func (s *Source) enter(p *process) {
	s.live[p.key.PID] = p
	s.order = append(s.order, p)
	s.countChild(p)
	s.giveProgram(p)
	s.event(sample.Event{At: time.Now(), Kind: sample.EventStart, Process: p.key, Text: p.program.Name})
}

// setProfiling reads whether the program keeps a heap profile, and changes it
// where that is wanted and the program has not run yet.
func (s *Source) setProfiling(p *process, held bool) {
	var err error
	if held && s.opts.HeapProfile {
		var rw *procfs.Memory
		if rw, err = procfs.OpenMemoryToWrite(p.root, p.readTID); err == nil {
			p.program.HeapProfile, err = switchOn(rw, p.bin, p.bias, s.opts.ProfileRate)
			rw.Close()
		}
		if errors.Is(err, errTooLate) && s.opts.EnableRunning {
			p.program.HeapProfile, err = s.enableRunning(p)
		}
	} else if s.scope != started && !held {
		p.program.HeapProfile, err = s.runningState(p)
	} else if p.program.HeapProfile, err = profileState(p.mem, p.bin, p.bias); p.switchedOn != 0 && p.switchedOn == p.bin.Base()+p.bias {
		p.program.HeapProfile = sample.HeapProfileEnabled
	}
	switch {
	case err != nil:
		p.program.WhyNot = err.Error()
		s.gap(p.key, "the heap profile of "+p.program.Name, err)
	case p.program.HeapProfile == sample.HeapProfileOff:
		p.program.WhyNot = s.whyOff(p, held)
		s.gap(p.key, "the heap profile of "+p.program.Name, errors.New(p.program.WhyNot))
	}
}

func (s *Source) whyOff(p *process, held bool) string {
	switch {
	case s.scope != started:
		return "this binary never imports a profiler, so the Go linker disabled heap profiles; start it with highwater run, or pass --enable-heap-profile to watch"
	case held:
		return "its linker switched heap profiling off, and --no-heap-profile left it so"
	case p.library != "" && !s.opts.HeapProfile:
		return "the linker of " + p.library + " switched heap profiling off, and --no-heap-profile left it so"
	case p.library != "":
		return "the linker of " + p.library +
			" switched heap profiling off, and its Go runtime had begun when that could be changed: a thread that is not the program's first loaded it, or one of many threads (a library that imports net/http/pprof has a heap profile)"
	}
	return "its linker switched heap profiling off, and it was started where it could not be switched on (--follow-forks reaches programs that a busy Go program starts)"
}

func (s *Source) giveProgram(p *process) {
	program := p.program
	if !s.opts.KeepArgs {
		program.Args = procfs.Withhold(program)
	}
	s.later(func(sink capture.Sink) error { return sink.Program(program) })
}

// remove takes a process that ended out of the watch.
func (s *Source) remove(pid int, status sample.Opt[lastbreath.Status]) {
	s.over = s.over || pid == s.main
	if p := s.live[pid]; p != nil {
		s.tellExit(p, status)
		s.drop(pid)
		s.buried[pid] = p.key.Start
	}
	s.checkDone()
}

// tellExit tells of the end of a process, once.
func (s *Source) tellExit(p *process, status sample.Opt[lastbreath.Status]) {
	if p.exitTold {
		return
	}
	p.exitTold = true
	e := sample.Event{At: time.Now(), Kind: sample.EventExit, Process: p.key, Text: "unseen"}
	if status.OK {
		e.Value, e.Text = int64(exitCode(status.V)), status.V.String()
	}
	s.event(e)
	s.tellFailure(p, status)
}

// drop forgets a process. Its files are closed by the loop, after what waits.
func (s *Source) drop(pid int) {
	p := s.live[pid]
	s.forgetFaults(p)
	s.forgetNative(p)
	delete(s.live, pid)
	s.order = slices.DeleteFunc(s.order, func(q *process) bool { return q == p })
	s.later(func(capture.Sink) error { p.close(); return nil })
}

// checkDone ends the source when the main program and all it left are gone.
func (s *Source) checkDone() {
	if s.ended || !s.over {
		return
	}
	if s.opts.EndWithMain {
		s.end()
		return
	}
	if len(s.forked) > 0 || slices.ContainsFunc(s.order, func(p *process) bool { return !p.beside }) {
		return
	}
	if slices.ContainsFunc(s.pids(), func(pid int) bool { return s.isOurs(pid) && !s.isBuried(pid) }) {
		return // the next scan takes them up
	}
	s.end()
}

// end ends the source: nothing more will come.
func (s *Source) end() {
	s.ended = true
	s.noticeOOM(s.readGroup(), sample.ProcessKey{}, time.Now())
	close(s.done)
}

func isNotReady(err error) bool { return errors.Is(err, gomem.ErrNotReady) }
