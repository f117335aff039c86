package app

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/highwater-go/highwater/internal/record/watch"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// leftPoll is how often is looked for programs that the ended one has left, and
// how often they are killed once the grace is over: one may fork meanwhile.
const leftPoll = 50 * time.Millisecond

// stopper ends the program and what it left: SIGTERM, and SIGKILL after the
// grace.
type stopper struct {
	programs *watch.Source
	grace    time.Duration
	reason   string // one of sample's for an EventSignal
	before   func() // is called before the program gets its first signal
	sent     *sentSignals
}

// sentSignals are those that stoppers sent to a program that ran. The zero value is
// ready.
type sentSignals struct {
	mu      sync.Mutex
	signals map[syscall.Signal]string // and why
}

func (s *sentSignals) add(sig syscall.Signal, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.signals == nil {
		s.signals = map[syscall.Signal]string{}
	}
	if s.signals[sig] == "" {
		s.signals[sig] = reason
	}
}

// asAsked says whether an exit code of the program is that of a signal that was sent as
// --for or --load asks for. An OOM kill of a program that nobody told to end is none.
func (s *sentSignals) asAsked(code int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	reason := s.signals[syscall.Signal(code-signalExitCodeOff)]
	return reason == sample.SignalTime || reason == sample.SignalLoadEnd
}

// because is the same stopper with a reason to note.
func (st stopper) because(reason string) stopper {
	st.reason = reason
	return st
}

// stop blocks until all are gone. The program alone gets the first SIGTERM, so
// that it can end its children in its own way; those that outlive it get theirs
// then. The grace's end is the end of all.
func (st stopper) stop(ctx context.Context) {
	st.before()
	told := st.programs.Left() > 0
	if !told {
		st.sent.add(syscall.SIGTERM, st.reason)
	}
	_ = st.programs.Signal(syscall.SIGTERM, st.reason) // gone already: Done tells
	grace := time.After(st.grace)
	look := time.NewTicker(leftPoll)
	defer look.Stop()
	for over := false; ; {
		select {
		case <-st.programs.Done():
			return
		case <-ctx.Done():
			return
		case <-grace:
			over = true
			st.sent.add(syscall.SIGKILL, st.reason)
		case <-look.C:
		}
		switch {
		case over:
			_ = st.programs.Kill()
		case !told && st.programs.Left() > 0:
			told = true
			_ = st.programs.Signal(syscall.SIGTERM, st.reason)
		}
	}
}

// surviveBrokenPipe lets a run outlive the reader of its progress: a write then
// fails and nothing more. The program gets its own SIGPIPE as ever, since a
// signal that is caught, unlike one that is ignored, is as new after execve.
func surviveBrokenPipe() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
}
