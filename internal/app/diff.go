package app

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/highwater-go/highwater/internal/answer/compare"
	"github.com/highwater-go/highwater/internal/answer/moment"
	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/show/report"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/visible"
)

type DiffFlags struct {
	From, To       string
	PID            int
	JSON, NoSource bool
	Source         string
}

// compared is one side of a comparison as it was asked for.
type compared struct {
	path, at string
	open     func(path string) (*recording.Reader, error) // nil: recording.Open
}

func (f DiffFlags) Run(s *Streams, args []string) error {
	before, after, err := f.sides(args)
	if err != nil {
		return err
	}
	d, err := compareMoments(s, before, after, f.PID)
	if err != nil {
		return err
	}
	if f.JSON {
		return report.JSON(s.Out, d)
	}
	o := s.look().With("highwater explain " + typed(after.path) + atFlag(after.at))
	o.NoSource, o.Source = f.NoSource, ExplainFlags{Source: f.Source}.sourceLines(after.path)
	return report.DiffText(s.page(), d, o)
}

// atFlag is the flag that asks explain for a moment.
func atFlag(at string) string {
	if at == "" {
		return ""
	}
	return " --at " + visible.Shell(at)
}

// sides finds the two recordings and their moments.
func (f DiffFlags) sides(args []string) (before, after compared, err error) {
	if before, err = sideOf(args[:min(1, len(args))], f.From, "--from"); err != nil {
		return before, after, err
	}
	if len(args) == 2 {
		after, err = sideOf(args[1:], f.To, "--to")
		return before, after, err
	}
	after = compared{path: before.path, at: f.To}
	if before.at == "" {
		before.at = "0s"
	}
	if before.at == after.at {
		return before, after, Usagef("--from 10s --to peak", "a moment is compared with itself")
	}
	return before, after, nil
}

// sideOf reads NAME@MOMENT, or a name and the flag for its moment.
func sideOf(args []string, at, flag string) (compared, error) {
	var split ExplainFlags
	rest := split.SplitMoment(args)
	if split.At != "" && at != "" {
		return compared{}, Usagef("leave one of them out", "%s and %s both name a moment", args[0], flag)
	}
	path, err := FindRecording(rest)
	if split.At != "" {
		at = split.At
	}
	return compared{path: path, at: at}, err
}

// compareMoments reads both sides. In one recording both are of the process that the
// later one is about.
func compareMoments(s *Streams, before, after compared, pid int) (*compare.Diff, error) {
	b, err := loadSide(s, after, pid, nil)
	if err != nil {
		return nil, err
	}
	var subject *sample.ProcessKey
	if before.path == after.path {
		subject = &b.Subject
	}
	a, err := loadSide(s, before, 0, subject)
	if err != nil {
		return nil, err
	}
	return compare.Moments(a, b), nil
}

func loadSide(s *Streams, c compared, pid int, subject *sample.ProcessKey) (*moment.Profiled, error) {
	open := c.open
	if open == nil {
		open = recording.Open
	}
	r, err := open(c.path)
	if err != nil {
		return nil, recordingError(err)
	}
	defer r.Close()
	defer tellDamage(s, r, c.path)
	side, err := moment.Load(r, c.path, c.at, pid, subject)
	return side, momentError(err, c.path)
}

// momentError adds what to do where a recording does not have the moment.
func momentError(err error, path string) error {
	switch {
	case errors.Is(err, explain.ErrAt):
		return Usagef("use peak, kill, last, 2m30s (since the start) or 14:31:08", "%w", err)
	case errors.Is(err, explain.ErrNoProcess):
		return Usagef("--pid takes the PID of a process that the recording has", "%w", err)
	case errors.Is(err, explain.ErrNoMoment):
		return &ExitError{Code: ExitInconclusive, Err: fmt.Errorf("%s: it ended before its memory was looked at", strings.TrimSuffix(filepath.Base(path), Suffix)),
			Hint: "highwater export --csv " + typed(path) + " prints what was seen"}
	}
	return err
}
