package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/highwater-go/highwater/internal/compare"
	"github.com/highwater-go/highwater/internal/explain"
	"github.com/highwater-go/highwater/internal/moment"
	"github.com/highwater-go/highwater/internal/recording"
	"github.com/highwater-go/highwater/internal/report"
	"github.com/highwater-go/highwater/internal/sample"
	"github.com/highwater-go/highwater/internal/visible"
)

type diffFlags struct {
	from, to       string
	pid            int
	json, noSource bool
	source         string
}

func diffCommand(s *streams) *cobra.Command {
	var f diffFlags
	c := &cobra.Command{
		Use:   "diff [A[@MOMENT]] [B[@MOMENT]]",
		Short: "Compare two moments, or two recordings: what grew",
		Long: `Compares two moments of one recording, or of two, and prints by how much the rows of the
ledger and the lines of code differ, largest first. A line counts as grown or shrunk
where the change is larger than the sampling error.

Of one recording, the start is compared with the kill or the peak; --from and --to, or
NAME@MOMENT, choose other moments. Of two recordings, the kill or the peak of each.`,
		Example: `  highwater diff --from 10s --to peak          the latest recording
  highwater diff server-3@10s server-3@2m
  highwater diff server-3 server-4             two runs, or two builds
  highwater diff agent-1@peak otheragent-1@peak --json`,
		Args: cobra.MaximumNArgs(2),
		RunE: func(_ *cobra.Command, args []string) error { return f.run(s, args) },
	}
	flags := c.Flags()
	flags.StringVar(&f.from, "from", "", "compare from this `moment` of A: peak, kill, last, a time since the start (2m30s) or of the clock (14:31:08)")
	flags.StringVar(&f.to, "to", "", "compare to this `moment` of B, or of A without a B")
	c.ValidArgsFunction = completeRecordings(2)
	completeFlag(c, "from", completeMoment)
	completeFlag(c, "to", completeMoment)
	flags.IntVar(&f.pid, "pid", 0, "compare the `process` with this PID, of B where there are two recordings (default: the one with most memory)")
	flags.BoolVar(&f.json, "json", false, "print as JSON")
	flags.BoolVar(&f.noSource, "no-source", false, "print names of functions instead of source lines")
	flags.StringVar(&f.source, "source", "", "look for the source in this `directory`, where it is not where the program was built")
	return c
}

// compared is one side of a comparison as it was asked for.
type compared struct {
	path, at string
	open     func(path string) (*recording.Reader, error) // nil: recording.Open
}

func (f diffFlags) run(s *streams, args []string) error {
	before, after, err := f.sides(args)
	if err != nil {
		return err
	}
	d, err := compareMoments(s, before, after, f.pid)
	if err != nil {
		return err
	}
	if f.json {
		return report.JSON(s.out, d)
	}
	o := s.look().With("highwater explain " + typed(after.path) + atFlag(after.at))
	o.NoSource, o.Source = f.noSource, explainFlags{source: f.source}.sourceLines(after.path)
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
func (f diffFlags) sides(args []string) (before, after compared, err error) {
	if before, err = sideOf(args[:min(1, len(args))], f.from, "--from"); err != nil {
		return before, after, err
	}
	if len(args) == 2 {
		after, err = sideOf(args[1:], f.to, "--to")
		return before, after, err
	}
	after = compared{path: before.path, at: f.to}
	if before.at == "" {
		before.at = "0s"
	}
	if before.at == after.at {
		return before, after, usagef("--from 10s --to peak", "a moment is compared with itself")
	}
	return before, after, nil
}

// sideOf reads NAME@MOMENT, or a name and the flag for its moment.
func sideOf(args []string, at, flag string) (compared, error) {
	var split explainFlags
	rest := split.splitMoment(args)
	if split.at != "" && at != "" {
		return compared{}, usagef("leave one of them out", "%s and %s both name a moment", args[0], flag)
	}
	path, err := findRecording(rest)
	if split.at != "" {
		at = split.at
	}
	return compared{path: path, at: at}, err
}

// compareMoments reads both sides. In one recording both are of the process that the
// later one is about.
func compareMoments(s *streams, before, after compared, pid int) (*compare.Diff, error) {
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

func loadSide(s *streams, c compared, pid int, subject *sample.ProcessKey) (*moment.Profiled, error) {
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
		return usagef("use peak, kill, last, 2m30s (since the start) or 14:31:08", "%w", err)
	case errors.Is(err, explain.ErrNoProcess):
		return usagef("--pid takes the PID of a process that the recording has", "%w", err)
	case errors.Is(err, explain.ErrNoMoment):
		return &exitError{code: exitInconclusive, err: fmt.Errorf("%s: it ended before its memory was looked at", strings.TrimSuffix(filepath.Base(path), suffix)),
			hint: "highwater export --csv " + typed(path) + " prints what was seen"}
	}
	return err
}
