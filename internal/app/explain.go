package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/measure/budget"
	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/show/report"
)

type ExplainFlags struct {
	At, Evidence, List, Source string
	JSON, NoSource, Latency    bool
	Features                   bool
	PID                        int
	Expect                     ExpectFlag
}

// SplitMoment takes NAME@MOMENT apart, unless a file has that very name.
func (f *ExplainFlags) SplitMoment(args []string) []string {
	if len(args) == 0 || f.At != "" {
		return args
	}
	if _, err := os.Stat(args[0]); err == nil {
		return args
	}
	if i := strings.LastIndexByte(args[0], '@'); i >= 0 {
		f.At = args[0][i+1:]
		if i == 0 {
			return nil
		}
		return []string{args[0][:i]}
	}
	return args
}

// answer explains a recording at a moment.
func answer(path, at string) (*explain.Answer, error) { return AnswerFor(path, at, 0, nil) }

// AnswerFor compares with a budget, too; nil: the one that the recording was made
// with, if any.
func AnswerFor(path, at string, pid int, expected *budget.Budget) (*explain.Answer, error) {
	r, err := recording.Open(path)
	if err != nil {
		return nil, recordingError(err)
	}
	defer r.Close()
	e, err := explain.LoadOf(r, path, at, pid)
	if err != nil && r.Damage() != nil {
		return nil, recordingError(fmt.Errorf("%s: %w; no snapshot of the program's memory could be read", ShortName(path), r.Damage()))
	}
	if err != nil {
		return nil, momentError(err, path)
	}
	if expected != nil {
		e.Probed.Budget = expected
	}
	a, err := answerOf(path, e)
	if damage := r.Damage(); err == nil && damage != nil {
		a.Gaps = append([]explain.Gap{{What: damagedGap, Why: damage.Error()}}, a.Gaps...)
	}
	return a, err
}

// damagedGap is the first gap of an answer from a recording that is damaged.
const damagedGap = "a part of the recording"

// answerOf explains what was loaded.
func answerOf(path string, e *explain.Evidence) (*explain.Answer, error) {
	own, causesErr := ownCauses()
	a, err := explain.Explain(e, earlier{path}, own...)
	if err != nil {
		return nil, err
	}
	n, notesErr := ReadNotes()
	a.Verdict.Note = n.of(a.Verdict.Fingerprint)
	if a.Verdict.Fingerprint != "" {
		readTried().tell(a)
	}
	a.Gaps = withOwnFile(withOwnFile(a.Gaps, "notes", notesErr), "your own causes", causesErr)
	return a, nil
}

// withOwnFile adds why one of the user's own files was not read: what is written wrongly there comes first, and a file that may not be
// read, as where $HOME is somebody else's, comes last. Neither takes anything else away.
func withOwnFile(gaps []explain.Gap, what string, err error) []explain.Gap {
	if err == nil {
		return gaps
	}
	g := explain.Gap{What: what, Why: err.Error()}
	if errors.Is(err, fs.ErrPermission) {
		return append(gaps, g)
	}
	return append([]explain.Gap{g}, gaps...)
}

// recordingError adds what to do about a file that cannot be read.
func recordingError(err error) error {
	var newer recording.ErrNewer
	var refused *fs.PathError
	switch {
	case errors.As(err, &refused) && errors.Is(err, fs.ErrPermission):
		return forbidden(refused.Path)
	case errors.As(err, &newer):
		return &ExitError{Code: ExitFailed, Err: err, Hint: "go install github.com/highwater-go/highwater/cmd/highwater@latest"}
	case errors.As(err, new(recording.ErrCut)):
		return &ExitError{Code: ExitFailed, Err: err,
			Hint: "copy it again from where it was made: a cut recording can be read once its tables are there, the first 120 KiB"}
	case errors.Is(err, recording.ErrDamaged):
		return &ExitError{Code: ExitFailed, Err: err, Hint: "use another copy of the file, if there is one"}
	case errors.As(err, new(recording.ErrForeign)):
		return &ExitError{Code: ExitFailed, Err: err,
			Hint: "highwater reads recordings as highwater wrote them; sqlite3 -readonly reads it, if you trust who made it"}
	case errors.Is(err, recording.ErrNotRecording):
		return Usagef("highwater list shows the recordings", "%w", err)
	}
	return err
}

// Print writes the answer in the form asked for.
func (f ExplainFlags) Print(s *Streams, path string, a *explain.Answer) error {
	if len(a.Gaps) > 0 && a.Gaps[0].What == damagedGap { // not every form shows gaps
		sayDamage(s, path, a.Gaps[0].Why)
	}
	switch {
	case f.Evidence != "":
		return printEvidence(s, a, f.Evidence)
	case f.JSON:
		return report.JSON(s.Out, a)
	case f.Latency && a.Latency == nil:
		return Usagef("highwater run --probe http://127.0.0.1:8080/ -- ./server", "%s has no requests: its watch had no --probe, or nothing answered",
			ShortName(path))
	case f.Latency:
		return report.LatencyText(s.page(), a.Latency, s.look().With("highwater explain "+typed(path)))
	}
	name := typed(path)
	next := "highwater open " + name + "      highwater export --pprof " + name + " -o heap.pb.gz"
	if a.Sampling.View == "none" {
		next = "highwater open " + name + "      highwater export --csv " + name + " -o samples.csv"
	}
	o := s.look().With(next)
	o.Source, o.NoSource = f.sourceLines(path), f.NoSource
	return report.Text(s.page(), a, o)
}

// printEvidence prints facts with their figures.
func printEvidence(s *Streams, a *explain.Answer, id string) error {
	found := false
	e := json.NewEncoder(s.Out)
	e.SetIndent("", "  ")
	for _, fact := range a.Evidence {
		if id != "all" && fact.ID != strings.Trim(id, "[]") {
			continue
		}
		found = true
		if err := e.Encode(fact); err != nil {
			return err
		}
	}
	if !found {
		return Usagef("highwater explain shows them in brackets; --evidence all prints all", "the answer has no fact %q", id)
	}
	return nil
}

// earlier is the other recordings of the same program in the state directory.
type earlier struct{ path string }

// Seen counts the recordings made before this one whose cause was the same.
func (e earlier) Seen(fingerprint string) (int, error) {
	all, err := StoredRecordings()
	if errors.Is(err, errNoState) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	self, err := os.Stat(e.path)
	if err != nil {
		return 0, fmt.Errorf("look at the recording: %w", err)
	}
	seen := 0
	for _, other := range all {
		if other.Path == e.path || other.Changed.After(self.ModTime()) || programOf(other.Path) != programOf(e.path) {
			continue
		}
		if fingerprintOf(other.Path) == fingerprint {
			seen++
		}
	}
	return seen, nil
}

// watchedAt is how the name of a watch's recording ends: with the time, and a number
// where several began in that second.
var watchedAt = regexp.MustCompile(`-[0-9]{8}-[0-9]{6}(-[0-9]+)?$`)

// programOf is the program's name in a recording's: "checkout" of checkout-3.hwm and of
// checkout-20261121-170502.hwm.
func programOf(path string) string {
	base := strings.TrimSuffix(filepath.Base(path), Suffix)
	if at := watchedAt.FindStringIndex(base); at != nil && at[0] > 0 {
		return base[:at[0]]
	}
	if i := strings.LastIndexByte(base, '-'); i > 0 {
		return base[:i]
	}
	return base
}

// fingerprintOf is the cause that run wrote into a recording, "" if it has none.
func fingerprintOf(path string) string {
	r, err := recording.Open(path)
	if err != nil {
		return ""
	}
	defer r.Close()
	m, err := r.Meta()
	if err != nil {
		return ""
	}
	return m.More[metaFingerprint]
}
