package app

import (
	"errors"
	"io"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/container"
	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/record/capture"
	"github.com/highwater-go/highwater/internal/record/watch"
	"github.com/highwater-go/highwater/internal/show/top"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/visible"
)

// tableWidth is that of the table on a pipe.
const tableWidth = 120

// printOnce prints the table as of now, in the form that is given. It records nothing.
func (w *watching) printOnce(s *Streams, form func(rows []top.Row, found int) (string, error)) error {
	f := newFollower(w, s)
	board := top.NewBoard()
	var errs []error
	look := func(source *watch.Source, name string, pid int) {
		errs = append(errs, lookOnce(board, source, name, pid))
	}
	defer func() { f.thrift.end() }()
	if w.group != "" {
		source, group, err := f.openGroup()
		if err != nil {
			return err
		}
		defer group.Close()
		defer source.Close()
		look(source, container.ShortName(group.Path), 0)
	}
	pids, err := w.present()
	if err != nil {
		return err
	}
	largestFirst(pids)
	if text := w.crowd(len(pids)); text != "" {
		defer visible.Fprintf(s.Err, "%s\n", text)
	}
	for _, pid := range pids[:min(len(pids), w.AtMost)] {
		source, program, err := f.openProgram(pid)
		if err == nil {
			look(source, program.Name, pid)
			source.Close()
		}
		if err != nil && !(w.All && errors.Is(err, procfs.ErrGone)) {
			errs = append(errs, cannotWatch(pid, err))
		}
	}
	rows := board.Rows(time.Now())
	if len(rows) == 0 && errors.Join(errs...) == nil {
		return Usagef("highwater doctor says what may be watched", "no program to show")
	}
	text, err := form(rows, max(len(pids), len(rows)))
	_, unwritten := io.WriteString(s.Out, text)
	return errors.Join(append(errs, err, unwritten)...)
}

// present are the processes that are asked for and run now.
func (w *watching) present() ([]int, error) {
	if w.group != "" || !w.All && len(w.names) == 0 {
		return w.pids, nil
	}
	finder := watch.Finder{Names: w.names, AllGo: w.All}
	return finder.Find()
}

// lookOnce takes one sample.
func lookOnce(board *top.Board, source *watch.Source, name string, pid int) error {
	l := board.Add(top.Seat{Name: name, PID: pid, Watches: source.Watches})
	p := sample.Point{At: time.Now()}
	if err := source.Tick(&p, capture.Full); err != nil {
		return err
	}
	return errors.Join(source.Collect(l), l.Point(&p))
}
