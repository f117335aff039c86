// Package top is the live view in a terminal: the programs that are watched, how near
// each is to its limit, and one of them in full.
//
// It is given what a watch sees on the way into the recording (Life), and reads the
// recording for what needs thought: lines of code, and answers. It watches nothing by
// itself and judges nothing. The view's state (model) knows no terminal; Screen is the
// one door to it.
package top

import (
	"context"
	"os"
	"time"

	"github.com/gdamore/tcell/v3"
)

// Options are what the view needs of whoever watches.
type Options struct {
	Board *Board
	How   string // it watches, for the first line
	// Explain is the page of a recording's answer so far, width columns wide where
	// that is possible.
	Explain func(path string, width int) (string, error)
	// Stopping is sent on when the user has the view stopped from outside
	// (SIGTSTP). Stop lets the programs go, stops this process, and returns when it
	// is continued and watches again.
	Stopping <-chan os.Signal
	Stop     func()
}

// redraw is how often figures are drawn anew.
const redraw = time.Second

// viewer runs a model on a screen.
type viewer struct {
	Options
	screen *Screen
	model  model

	// One goroutine at a time reads lines, one explains.
	lines   chan found
	reading *lineReader
	busy    bool
	readAt  time.Time
	answers chan answer
	asked   *Life // whose answer is being made
}

// found is what a lineReader read.
type found struct {
	by    *lineReader
	lines *Lines
	err   error
}

// answer is the page of a Life.
type answer struct {
	of   *Life
	page string
	err  error
}

// Run shows the board until the user quits or ctx ends. The screen is left open.
func Run(ctx context.Context, screen *Screen, o Options) {
	v := &viewer{Options: o, screen: screen, model: model{how: o.How}, lines: make(chan found), answers: make(chan answer)}
	defer v.end()
	ticker := time.NewTicker(redraw)
	defer ticker.Stop()
	for {
		v.show()
		select {
		case <-ctx.Done():
			return
		case e := <-screen.tty.EventQ():
			if v.event(e) == quit {
				return
			}
		case <-o.Stopping:
			v.stop()
		case f := <-v.lines:
			v.found(f)
		case a := <-v.answers:
			v.answered(a)
		case <-o.Board.changed:
		case <-ticker.C:
		}
	}
}

// end waits for what is being read.
func (v *viewer) end() {
	if v.busy {
		<-v.lines
	}
	if v.asked != nil {
		<-v.answers
	}
	if v.reading != nil {
		v.reading.close()
	}
}

func (v *viewer) show() {
	now := time.Now()
	v.model.take(v.Board, now)
	v.readLines(now)
	w, h := v.screen.tty.Size()
	v.screen.draw(v.model.frame(w, h))
}

// event is a key, or a window of another size.
func (v *viewer) event(e tcell.Event) action {
	switch e := e.(type) {
	case *tcell.EventResize:
		v.screen.tty.Sync()
	case *tcell.EventKey:
		k := keyOf(e)
		if k == "ctrl-l" {
			v.screen.tty.Sync()
		}
		return v.do(v.model.key(k))
	}
	return nothing
}

func (v *viewer) do(a action) action {
	of := v.model.selected.life
	switch a {
	case suspend:
		v.stop()
	case keepMoment:
		v.keepMoment(of)
	case explainNow:
		v.explain(of)
	}
	return a
}

func (v *viewer) keepMoment(of *Life) {
	switch {
	case !of.running():
		v.model.notice = of.Name + " runs no more: its last moment was kept when it ended"
	case of.ask():
		v.model.notice = "a moment of " + of.Name + " is kept: highwater explain " + of.Recording + " --at last"
	default:
		v.model.notice = "a moment of " + of.Name + " is on its way"
	}
}

// explain makes the answer in the background.
func (v *viewer) explain(of *Life) {
	if v.asked != nil {
		v.model.notice = "still explaining " + v.asked.Name
		return
	}
	v.asked = of
	w, _ := v.screen.tty.Size()
	v.model.show("explain "+of.Name, "explaining what was recorded of "+of.Name+" so far ...")
	go func() {
		defer v.screen.Guard()
		page, err := v.Explain(of.Path, w)
		v.answers <- answer{of, page, err}
	}()
}

func (v *viewer) answered(a answer) {
	v.asked = nil
	title := "explain " + a.of.Name
	if v.model.view != pageView || v.model.title != title {
		return // the user has left
	}
	if a.err != nil {
		a.page = "It cannot be explained: " + a.err.Error()
	}
	v.model.show(title, a.page)
}

// readEvery is how often a new heap profile is looked for while lines are shown.
const readEvery = 2 * time.Second

// readLines reads the lines of the process that is shown, in the background.
func (v *viewer) readLines(now time.Time) {
	d := v.model.detail
	if v.busy || d == nil || d.process.PID == 0 || d.Go == "" {
		return
	}
	if v.reading == nil || v.reading.of != d.id {
		if v.reading != nil {
			v.reading.close()
		}
		v.reading = &lineReader{of: d.id, module: d.Module}
	} else if now.Sub(v.readAt) < readEvery {
		v.model.lines = v.reading.lines
		return
	}
	v.busy, v.readAt = true, now
	go func(by *lineReader) {
		defer v.screen.Guard()
		lines, err := by.read()
		v.lines <- found{by, lines, err}
	}(v.reading)
}

func (v *viewer) found(f found) {
	v.busy = false
	if f.err != nil {
		f.lines = &Lines{Why: "its recording cannot be read: " + f.err.Error()}
	}
	if d := v.model.detail; d != nil && d.id == f.by.of {
		v.model.lines = f.lines
	}
}

// stop gives the terminal back until this process is continued.
func (v *viewer) stop() {
	_ = v.screen.tty.Suspend() // has no error
	v.Stop()
	if err := v.screen.tty.Resume(); err != nil {
		v.Board.Say("the terminal: " + err.Error())
	}
	v.screen.tty.Sync()
}

// running says whether there is still a program to look at.
func (l *Life) running() bool {
	l.board.mu.Lock()
	defer l.board.mu.Unlock()
	return len(l.processes) > 0 && l.ended.IsZero()
}
