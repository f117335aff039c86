package lastbreath

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// beATracer follows programs until it is killed: "start PROGRAM ARGS...", with
// its own standard files, "own PROGRAM ARGS..." to end with them, or "seize PID".
func beATracer(args []string) {
	tracer, err := NewTracer(Handler{
		Exec:     func(int) bool { return true },
		Narrowed: func(int) { fmt.Fprintln(os.Stderr, "narrowed") },
	}, Options{EndWithUs: args[0] == "own"})
	if err != nil {
		panic(err)
	}
	if args[0] != "seize" {
		_, err = tracer.Start(Command{Path: args[1], Args: args[1:], Env: os.Environ(), Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}})
	} else {
		pid, _ := strconv.Atoi(args[1])
		var key sample.ProcessKey
		if key, err = procfs.KeyOf(procRoot, pid); err == nil {
			err = tracer.Seize(key, true)
		}
		fmt.Println("seized")
	}
	if err != nil {
		panic(err)
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, unix.SIGTERM)
	<-stop
	tracer.Close()
}

func TestTheProgramLivesOnWhenItsTracerIsKilled(t *testing.T) {
	t.Run("that seized it", func(t *testing.T) {
		p, pid := startPlain(t)
		tracer := exec.Command(os.Args[0], "be-a-tracer", "seize", strconv.Itoa(pid))
		out, _ := tracer.StdoutPipe()
		if err := tracer.Start(); err != nil {
			t.Fatal(err)
		}
		bufio.NewReader(out).ReadString('\n')
		p.outlives(t, tracer, pid)
	})
	t.Run("that traces all its threads", func(t *testing.T) {
		p, tracer, _ := startByAnother(t, "start", target, "wait")
		_, pid := p.ready(t)
		if traced, all := tracedThreads(t, pid); traced < 3 || traced < all {
			t.Errorf("%d of %d threads are traced", traced, all)
		}
		p.outlives(t, tracer, pid)
	})
	t.Run("that is narrowing it", func(t *testing.T) {
		for range 10 {
			p, tracer, news := startByAnother(t, "start", target, "churn")
			_, pid := p.ready(t)
			news.ReadString('\n') // the threads are about to leave
			p.outlives(t, tracer, pid)
		}
	})
}

func TestOurOwnProgramsEndWhenTheirTracerIsKilled(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		news bool // waits until the program is narrowed
	}{
		{"all of whose threads are traced", []string{target, "wait"}, false},
		{"that are being narrowed", []string{target, "churn"}, true},
		{"with what they have started", []string{"/bin/sh", "-c", "sleep 600 & echo 0x0 $$; wait"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, tracer, news := startByAnother(t, append([]string{"own"}, c.args...)...)
			p.ready(t)
			if c.news {
				news.ReadString('\n')
			}
			tracer.Process.Kill()
			tracer.Wait()
			// The pipe ends when nobody holds its other end any more: none of them lives.
			if _, err := io.Copy(io.Discard, p.out); err != nil {
				t.Errorf("a program lives on: %v", err)
			}
		})
	}
}

// startByAnother starts a target by the Tracer of another process, whose
// standard error is news.
func startByAnother(t *testing.T, args ...string) (p *program, tracer *exec.Cmd, news *bufio.Reader) {
	t.Helper()
	hwtest.Slow(t, "traces a program")
	tracer = exec.Command(os.Args[0], append([]string{"be-a-tracer"}, args...)...)
	stdin, in, _ := os.Pipe()
	out, stdout, _ := os.Pipe()
	told, stderr, _ := os.Pipe()
	out.SetReadDeadline(time.Now().Add(time.Minute))
	tracer.Stdin, tracer.Stdout, tracer.Stderr = stdin, stdout, stderr
	if err := tracer.Start(); err != nil {
		t.Fatal(err)
	}
	for _, f := range []*os.File{stdin, stdout, stderr} {
		f.Close()
	}
	t.Cleanup(func() { in.Close(); out.Close(); told.Close() })
	return &program{in: in, out: bufio.NewReader(out)}, tracer, bufio.NewReader(told)
}

// outlives kills the tracer and checks that the program lives on, untraced.
func (p *program) outlives(t *testing.T, tracer *exec.Cmd, pid int) {
	t.Helper()
	tracer.Process.Kill()
	tracer.Wait()
	p.answers(t)
	if traced, all := tracedThreads(t, pid); traced > 0 || all == 0 {
		t.Errorf("%d of %d threads are still traced", traced, all)
	}
	p.in.Close()
}

// startPlain starts a target without a Tracer.
func startPlain(t *testing.T) (*program, int) {
	t.Helper()
	hwtest.Slow(t, "traces a program")
	cmd := exec.Command(target, "wait")
	stdin, in, _ := os.Pipe()
	out, stdout, _ := os.Pipe()
	cmd.Stdin, cmd.Stdout = stdin, stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); cmd.Wait() })
	p := &program{pid: cmd.Process.Pid, in: in, out: bufio.NewReader(out)}
	_, pid := p.ready(t)
	return p, pid
}

func TestCloseLetsEveryProgramGo(t *testing.T) {
	tracer, log := newTracer(t, Options{}, nil)
	p := start(t, tracer, target, "wait")
	_, pid := p.ready(t)
	shell := start(t, tracer, "sh", "-c", "echo 0x0 $$; read x; echo lives; read x; exit 0")
	_, sh := shell.ready(t)
	stopped := start(t, tracer, "sh", "-c", "echo 0x0 $$; read x; echo lives; read x; exit 0")
	stopped.ready(t)
	unix.Kill(stopped.pid, unix.SIGSTOP)
	until(t, func() bool { st, _ := procfs.StateOf(procRoot, stopped.pid); return st == 't' || st == 'T' })
	tracer.Close()
	for _, id := range []int{pid, sh} {
		if traced, all := tracedThreads(t, id); traced > 0 || all == 0 {
			t.Errorf("%d of %d threads of process %d are still traced", traced, all, id)
		}
	}
	p.answers(t)
	shell.answers(t)
	// Job control holds it as before, now without us.
	until(t, func() bool { st, _ := procfs.StateOf(procRoot, stopped.pid); return st == 'T' })
	unix.Kill(stopped.pid, unix.SIGCONT)
	stopped.answers(t)
	for _, line := range log.all() {
		if line[:4] != "exec" {
			t.Errorf("told %q", line)
		}
	}
	if _, err := tracer.Start(Command{Path: target}); err != errClosed {
		t.Errorf("Start after Close: %v", err)
	}
	for _, p := range []*program{p, shell, stopped} {
		p.in.Close()
		unix.Wait4(p.pid, nil, 0, nil)
	}
}

func TestOtherChildrenAreNotStolen(t *testing.T) {
	tracer, log := newTracer(t, Options{}, nil)
	p := start(t, tracer, target, "wait")
	p.ready(t)
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			cmd := exec.Command("sh", "-c", "read x; exit 5")
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Error(err)
				return
			}
			started := make(chan error)
			go func() {
				if i%2 == 0 {
					// The thread ends with the goroutine, and the kernel gives its
					// children to another thread, which may be the Tracer's.
					runtime.LockOSThread()
				}
				started <- cmd.Start()
			}()
			if err := <-started; err != nil {
				t.Error(err)
				return
			}
			in.Close()
			cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != 5 {
				t.Errorf("a child of os/exec: %v", cmd.ProcessState)
			}
		})
		p := start(t, tracer, "sh", "-c", "sh -c 'exit 1'; exit 6")
		log.wait(t, fmt.Sprintf("gone %d exit 6", p.pid))
	}
	wg.Wait()
	unix.Kill(p.pid, unix.SIGKILL)
	log.wait(t, fmt.Sprintf("gone %d signal 9", p.pid))
}
