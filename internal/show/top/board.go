package top

import (
	"slices"
	"sync"
	"time"

	"github.com/highwater-go/highwater/internal/words/sorting"
	"github.com/highwater-go/highwater/internal/words/visible"
)

// Board is all that is watched now, and what of it was killed. Those who watch
// write to its Lives, each from its own goroutine; the view reads.
type Board struct {
	mu      sync.Mutex
	lives   []*Life  // in order of appearance
	made    []string // recordings
	said    string
	saidAt  time.Time
	found   int // programs that there are, where not all are watched
	changed chan struct{}
}

// NewBoard is an empty one.
func NewBoard() *Board { return &Board{changed: make(chan struct{}, 1)} }

// Add seats one more recording.
func (b *Board) Add(s Seat) *Life {
	l := &Life{Seat: s, board: b, asked: make(chan struct{}, 1)}
	b.change(func() {
		b.lives = append(b.lives, l)
		b.made = append(b.made, s.Recording)
	})
	return l
}

// Recordings are all that were made, as commands are given them.
func (b *Board) Recordings() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.made)
}

// Say shows a line to the user for a while.
func (b *Board) Say(text string) {
	b.change(func() { b.said, b.saidAt = visible.Text(text), time.Now() })
}

// Found notes how many programs there are where not all are watched, else 0.
func (b *Board) Found(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.found = n
}

// programs is what Found noted.
func (b *Board) programs() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.found
}

// change changes what is shown and has it drawn soon.
func (b *Board) change(how func()) {
	b.mu.Lock()
	how()
	b.mu.Unlock()
	select {
	case b.changed <- struct{}{}:
	default:
	}
}

func (b *Board) remove(l *Life) {
	b.lives = slices.DeleteFunc(b.lives, func(one *Life) bool { return one == l })
}

// How many that ended are shown: those that were killed, and others.
const (
	mostKilled = 32
	mostExited = 4
)

// forget drops those that ended longest ago where there are many.
func (b *Board) forget() {
	var killed, exited []*Life
	for _, l := range b.lives {
		switch {
		case l.ended.IsZero():
		case l.wasKilled():
			killed = append(killed, l)
		default:
			exited = append(exited, l)
		}
	}
	for _, list := range []struct {
		lives []*Life
		most  int
	}{{killed, mostKilled}, {exited, mostExited}} {
		sorting.Stable(list.lives, func(a, b *Life) int { return b.ended.Compare(a.ended) })
		for _, l := range list.lives[min(len(list.lives), list.most):] {
			b.remove(l)
		}
	}
}

// Rows is what is to be shown now, in order of appearance; of several processes of
// one Life, first the Life and then each.
func (b *Board) Rows(now time.Time) []Row {
	b.mu.Lock()
	defer b.mu.Unlock()
	var rows []Row
	for _, l := range b.lives {
		rows = append(rows, l.rows(now)...)
	}
	return rows
}

// saidFor is how long a line to the user stays.
const saidFor = 8 * time.Second

// message is what was said to the user lately.
func (b *Board) message(now time.Time) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if now.Sub(b.saidAt) > saidFor {
		return ""
	}
	return b.said
}
