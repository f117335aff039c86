package app

import (
	"io"
	"sync"

	"github.com/highwater-go/highwater/internal/words/visible"
)

// eraseLine goes to the line's beginning and empties it (ECMA-48, EL).
const eraseLine = "\r\x1b[K"

// defaultColumns is how wide a terminal is that does not say.
const defaultColumns = 80

// live is the one line of a terminal that is written again and again in its place.
// Elsewhere it writes nothing. Several goroutines may use it.
type live struct {
	w        io.Writer // without what shows control characters
	terminal bool

	mu    sync.Mutex
	drawn bool
	text  string // that is drawn
	ended bool
}

func newLive(w io.Writer) *live { return &live{w: bare(w), terminal: isTerminal(w)} }

// draw shows a text in place of the one before, cut to the terminal's width: a line that
// wrapped would leave its beginning behind.
func (l *live) draw(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.terminal || l.ended || l.drawn && text == l.text {
		return
	}
	shown := []rune(visible.Text(text))
	shown = shown[:min(len(shown), Columns(FileOf(l.w))-1)]
	_, _ = io.WriteString(l.w, eraseLine+string(shown))
	l.drawn, l.text = true, text
}

// clear empties the line, for another text to begin there.
func (l *live) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.drawn {
		_, _ = io.WriteString(l.w, eraseLine)
		l.drawn = false
	}
}

// end clears the line for good.
func (l *live) end() {
	l.clear()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
}
