package explain

import (
	"fmt"
	"strings"

	"github.com/highwater-go/highwater/internal/measure/heapdiff"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// Crash is how a Go program ended itself: by a panic that nobody recovered, or by a fatal
// error of its runtime.
type Crash struct {
	Kind   string `json:"kind"`   // "panicked" or "met a fatal error"
	Reason string `json:"reason"` // in words, "" where only the message of the program has it
	sample.Place
}

// words say it of a program in a sentence.
func (k *Crash) words(program string) string {
	text := program + " " + k.Kind
	if k.Reason != "" {
		text += " (" + k.Reason + ")"
	}
	if k.File != "" {
		text += " at " + place(k.File, k.Line)
	}
	return text + "."
}

// crashSentence says how the program ended itself; "" where it did not.
func (c *Case) crashSentence() string {
	switch {
	case !c.crashed() || c.outcome.Kernel:
		return ""
	case c.Crash != nil:
		return c.Crash.words(c.name()) + " "
	}
	return fmt.Sprintf("%s exited with code %d. Memory was not the cause. ", c.name(), *c.outcome.ExitCode)
}

// panics are functions of the runtime that end a program, with what they say of why. They are
// on the stack of the goroutine that called them, above the line that did it.
var panics = []struct{ function, kind, reason string }{
	{"runtime.panicmem", panicked, "nil pointer dereference or invalid memory address"},
	{"runtime.sigpanic", panicked, "invalid memory address"},
	{"runtime.goPanicIndex", panicked, "index out of range"},
	{"runtime.panicIndex", panicked, "index out of range"},
	{"runtime.goPanicSlice", panicked, "slice bounds out of range"},
	{"runtime.panicSlice", panicked, "slice bounds out of range"},
	{"runtime.panicdivide", panicked, "integer divide by zero"},
	{"runtime.panicdottype", panicked, "interface conversion"},
	{"runtime.panicnil", panicked, "panic called with nil"},
	{"runtime.mapassign", panicked, "assignment to entry in nil map"},
	{"runtime.panicmakeslice", panicked, "makeslice: out of range"},
	{"runtime.chansend", panicked, "send on closed channel"},
	{"runtime.throw", fatal, ""},
	{"runtime.fatal", fatal, ""},
	{"runtime.gopanic", panicked, ""},
}

const (
	panicked = "panicked"
	fatal    = "met a fatal error"
)

// ended are the functions of the runtime in which a goroutine is as it ends its program.
var endsProgram = []string{"runtime.fatalpanic", "runtime.fatalthrow", "runtime.gopanic", "runtime.throw", "runtime.fatal"}

// crashOf finds the goroutine that ended the program among those of its last moment.
func crashOf(groups []sample.GoroutineGroup, module string) *Crash {
	for _, g := range groups {
		var frames []sample.Frame
		for _, l := range g.Where {
			frames = append(frames, l.Frames...)
		}
		if endsIn(frames) {
			return crashAt(frames, module)
		}
	}
	return nil
}

func endsIn(frames []sample.Frame) bool {
	for _, f := range frames {
		for _, name := range endsProgram {
			if f.Func == name {
				return true
			}
		}
	}
	return false
}

// crashAt reads what happened from the frames, innermost first: the runtime's tell why, and
// the first that is the program's own where, else the first outside of the runtime.
func crashAt(frames []sample.Frame, module string) *Crash {
	k := &Crash{Kind: panicked}
	named := false
	for _, f := range frames {
		owner := heapdiff.OwnerOf(f.Func, module)
		if owner == heapdiff.Runtime {
			for _, p := range panics {
				if !named && strings.HasPrefix(f.Func, p.function) && (p.reason != "" || k.Reason == "") {
					k.Kind, k.Reason, named = p.kind, p.reason, p.reason != ""
				}
			}
			continue
		}
		if k.File == "" || owner == heapdiff.Own {
			k.Function, k.File, k.Line = f.Func, f.File, f.Line
		}
		if owner == heapdiff.Own {
			break
		}
	}
	return k
}

// end reads the program's last moment, where that is its end: where it crashed, and what a mark
// found live then.
func (l *loader) end() error {
	if len(l.moments) == 0 || l.moments[len(l.moments)-1].Kind != sample.MomentDeath {
		return nil
	}
	last := l.moments[len(l.moments)-1]
	m, err := l.Moment(last.ID)
	if err != nil {
		return fmt.Errorf("read the last moment: %w", err)
	}
	for _, p := range m.Processes {
		if p.Key != l.e.Subject || mainReturned(p) {
			continue
		}
		l.e.Crash = crashOf(p.Goroutines, l.module())
		if p.Live != nil && p.Go != nil {
			l.e.LastMark = Held{At: l.e.seconds(m.At), InUse: p.Live.Bytes, Alloc: p.Go.TotalAlloc}
		}
	}
	return nil
}
