package explain

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// ErrNoProcess is that a recording does not have the process that was asked for.
var ErrNoProcess = errors.New("no process")

// LoadOf is Load about one process of several: its peak is that of its own resident
// memory, and what happened to the others is not its outcome. The error is
// ErrNoProcess, too, and names those that there are.
func LoadOf(r *recording.Reader, path, at string, pid int) (*Evidence, error) {
	return loadBeside(r, path, at, pid, nil)
}

// only leaves the moments that hold a process.
func (l *loader) only(pid int) error {
	for _, p := range l.e.Programs {
		if numberOf(p.Key) == pid {
			l.e.Of = p.Key // of several, the last
		}
	}
	if l.e.Of == (sample.ProcessKey{}) {
		return fmt.Errorf("%w %d is in the recording; recorded: %s", ErrNoProcess, pid, names(l.e.Programs))
	}
	var held []recording.MomentInfo
	for _, m := range l.moments {
		for _, p := range m.Processes {
			if p.Key != l.e.Of {
				continue
			}
			m.Usage = p.Anon
			if err := l.traced(&m); err != nil {
				return err
			}
			held = append(held, m)
		}
	}
	l.moments = held
	return nil
}

// traced weighs a moment of a log by the heap that its collection began with.
func (l *loader) traced(m *recording.MomentInfo) error {
	if l.e.Imported != "gctrace" {
		return nil
	}
	g, ok, err := l.CycleAt(l.e.Of, m.At)
	if ok {
		m.Usage = sample.Some(g.Trigger)
	}
	return err
}

// numberOf is what a process is asked for by: its pid, or in imported evidence that
// does not say it, its place there.
func numberOf(key sample.ProcessKey) int {
	if key.PID == 0 {
		return int(key.Start)
	}
	return key.PID
}

// names lists programs as "8 shop, 9 sidecar".
func names(programs []sample.Program) string {
	const most = 8
	var list []string
	seen := map[sample.ProcessKey]bool{}
	for i := len(programs) - 1; i >= 0; i-- {
		if p := programs[i]; !seen[p.Key] {
			seen[p.Key] = true
			name := strconv.Itoa(numberOf(p.Key))
			if p.Name != "" {
				name += " (" + p.Name + ")"
			}
			list = append(list, name)
		}
	}
	slices.Reverse(list)
	if n := len(list) - most; n > 0 {
		list = append(list[:most], fmt.Sprintf("and %d more", n))
	}
	return strings.Join(list, ", ")
}

// oomKill is the first kill by the kernel that concerns what the answer is about.
func (e *Evidence) oomKill() (sample.Event, bool) {
	for _, ev := range e.Events {
		if ev.Kind == sample.EventOOMKill && (e.Of == sample.ProcessKey{} || ev.Process == sample.ProcessKey{} || ev.Process == e.Of) {
			return ev, true
		}
	}
	return sample.Event{}, false
}
