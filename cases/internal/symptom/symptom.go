// Package symptom measures what a program does to memory, by the means that
// everybody has: the kernel's cgroup and /proc figures, runtime/metrics and
// pprof. The truth about the faults of the cases stands on it, so that the tool
// which is to find them is not its own witness.
//
// A program under measurement offers a probe (package probe) by its flag -debug
// and runs in a cgroup of its own, with a limit or without.
package symptom

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// Options say which program to measure, and how.
type Options struct {
	Path  string
	Args  []string
	Env   []string  // beside this process's own
	Dir   string    // the working directory
	Log   io.Writer // takes what the program prints; nil discards it
	Limit uint64    // bytes of its cgroup; 0 is none

	// Cold starts a copy of the program that is on disk only, as the first start
	// after a deployment is: its code is read into page cache that is charged to
	// its own cgroup, and that the kernel can take back from it.
	Cold bool

	// EveryAllocation has the program keep a profile of every allocation
	// (GODEBUG=memprofilerate=1): exact, and some times slower. Without it
	// no profile is taken.
	EveryAllocation bool
}

// Program is one process under measurement.
type Program struct {
	options Options
	cmd     *exec.Cmd
	group   *group
	debug   string
	cold    string // the copy that runs, "" if it is the program itself
	started time.Time

	stop    context.CancelFunc
	watched sync.WaitGroup
	ended   chan struct{} // closed after exit is set
	exit    error

	mu      sync.Mutex
	figures Figures
}

// Start starts the program in a new cgroup and measures it until Stop.
func Start(o Options) (*Program, error) {
	debug, err := FreeAddress()
	if err != nil {
		return nil, err
	}
	g, err := newGroup(o.Limit)
	if err != nil {
		return nil, err
	}
	p := &Program{options: o, group: g, debug: debug, ended: make(chan struct{})}
	if err := p.start(); err != nil {
		return nil, errors.Join(err, p.remove())
	}
	ctx, stop := context.WithCancel(context.Background())
	p.stop = stop
	p.watched.Go(func() { p.exit = p.cmd.Wait(); close(p.ended) })
	p.watched.Go(func() { p.watchKernel(ctx) })
	p.watched.Go(func() { p.watchRuntime(ctx) })
	return p, nil
}

// start runs the program through a shell that enters the cgroup first: version
// 1 has no other way that leaves nothing uncounted.
func (p *Program) start() error {
	path := p.options.Path
	if p.options.Cold {
		path += ".cold"
		p.cold = path
		if err := ColdCopy(path, p.options.Path); err != nil {
			return fmt.Errorf("copy the program: %w", err)
		}
	}
	p.started = time.Now()
	args := append([]string{"-c", `echo $$ >"$0" && exec "$@"`, p.group.procs(), path, "-debug", p.debug}, p.options.Args...)
	p.cmd = exec.Command("/bin/sh", args...)
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = p.options.Dir, p.options.Log, p.options.Log
	p.cmd.Env = append(os.Environ(), p.options.Env...)
	if p.options.EveryAllocation {
		p.cmd.Env = append(p.cmd.Env, "GODEBUG=memprofilerate=1")
	}
	return p.cmd.Start()
}

// PID is the process under measurement.
func (p *Program) PID() int { return p.cmd.Process.Pid }

// Interrupt is Ctrl-C in the program's terminal.
func (p *Program) Interrupt() error { return p.cmd.Process.Signal(os.Interrupt) }

// Ended is closed when the program has ended by itself or was killed.
func (p *Program) Ended() <-chan struct{} { return p.ended }

// WaitFor returns when the program accepts connections on address.
func (p *Program) WaitFor(address string) error {
	ctx, stop := context.WithCancelCause(context.Background())
	defer stop(nil)
	go func() {
		select {
		case <-p.ended:
			stop(fmt.Errorf("%s ended before it answered on %s: %w", p.options.Path, address, p.exit))
		case <-ctx.Done():
		}
	}()
	return WaitFor(ctx, address)
}

// WaitFor returns when somebody accepts connections on address; it waits for ten
// seconds, or until ctx ends.
func WaitFor(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, 10*time.Second, fmt.Errorf("nobody answers on %s", address))
	defer cancel()
	for {
		if c, err := net.DialTimeout("tcp", address, time.Second); err == nil {
			return c.Close()
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Stop asks the program to end, kills it if it has not after ten seconds, and
// returns what was measured. It leaves no process and no cgroup behind.
func (p *Program) Stop() (Figures, error) {
	var failed error
	select {
	case <-p.ended: // before anybody asked
	default:
		failed = p.lastLook()
		p.cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-p.ended:
		case <-time.After(10 * time.Second):
			p.cmd.Process.Kill()
			<-p.ended
		}
	}
	p.stop()
	p.watched.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	f := &p.figures
	f.Took, f.Limit = time.Since(p.started), p.options.Limit
	f.LimitHits, f.Refaults, f.Killed = p.group.limitHits(), p.group.refaults(), p.group.kills() > 0
	f.Peak = max(f.Peak, p.group.peak())
	return *f, errors.Join(failed, p.remove())
}

// remove removes the cgroup and the copy; the program must have ended.
func (p *Program) remove() error {
	var failed error
	if p.cold != "" {
		failed = os.Remove(p.cold)
	}
	return errors.Join(failed, p.group.remove())
}

// FreeAddress is a loopback address that nobody listens on.
func FreeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}
