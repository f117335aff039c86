package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/highwater-go/highwater/internal/budget"
	"github.com/highwater-go/highwater/internal/explain"
	"github.com/highwater-go/highwater/internal/recording"
	"github.com/highwater-go/highwater/internal/report"
)

type explainFlags struct {
	at, evidence, list, source string
	json, noSource, latency    bool
	features                   bool
	pid                        int
	expect                     expectFlag
}

func explainCommand(s *streams) *cobra.Command {
	var f explainFlags
	c := &cobra.Command{
		Use:   "explain [RECORDING]",
		Short: "Explain what happened, which line caused it, and why",
		Long: `Explains a recording at one moment: at the kill if there was one, else at the peak.
RECORDING is a file, a name that list shows, "latest", or NAME@MOMENT; without it,
highwater explains the latest. It does not change the recording.

Exit code 4: the evidence is not enough; the answer says what is missing. Exit code 3:
the program used more memory than --expect allows.`,
		Example: `  highwater explain
  highwater explain server-3 --at peak
  highwater explain server-3@2m30s --json
  highwater explain --expect heap=300MiB,native=50MiB
  highwater explain --list 'cache.(*Cache).Put' --source ~/src/server`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			args = f.splitMoment(args)
			path, err := findRecording(args)
			if err != nil {
				return err
			}
			if f.list != "" {
				return f.listFunction(s, path)
			}
			if f.features {
				return f.printFeatures(s, path)
			}
			expected, err := f.expect.budget()
			if err != nil {
				return err
			}
			a, err := answerFor(path, f.at, f.pid, expected)
			if err != nil {
				return err
			}
			if err := f.print(s, path, a); err != nil {
				return err
			}
			if expected != nil && a.Expected != nil && a.Expected.Kept == budget.Failed {
				return exitWith(exitBudget)
			}
			if a.Verdict.Class == explain.Inconclusive {
				return exitWith(exitInconclusive)
			}
			return nil
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.at, "at", "", "explain this `moment`: peak, kill, last, a time since the start (2m30s) or of the clock (14:31:08)")
	flags.IntVar(&f.pid, "pid", 0, "explain the process with this `PID` (default: the one with most memory)")
	flags.BoolVar(&f.json, "json", false, "print as JSON")
	flags.BoolVar(&f.noSource, "no-source", false, "print names of functions instead of source lines")
	flags.StringVar(&f.list, "list", "", "show the source of a `function`, with what each line retained and allocated")
	flags.StringVar(&f.source, "source", "", "look for the source in this `directory`, where it is not where the program was built")
	flags.BoolVar(&f.latency, "latency", false, "show the requests of --probe: percentiles, a histogram, their course, and what the slow ones coincide with")
	flags.BoolVar(&f.features, "features", false, "print the measurements behind the verdict, and the weights of the evidence")
	c.ValidArgsFunction = completeRecordings(1)
	completeFlag(c, "at", completeMoment)
	f.expect.add(c)
	flags.StringVar(&f.evidence, "evidence", "", "print the figures behind one fact (`e4`), or behind all")
	return c
}

// splitMoment takes NAME@MOMENT apart, unless a file has that very name.
func (f *explainFlags) splitMoment(args []string) []string {
	if len(args) == 0 || f.at != "" {
		return args
	}
	if _, err := os.Stat(args[0]); err == nil {
		return args
	}
	if i := strings.LastIndexByte(args[0], '@'); i >= 0 {
		f.at = args[0][i+1:]
		if i == 0 {
			return nil
		}
		return []string{args[0][:i]}
	}
	return args
}

// answer explains a recording at a moment.
func answer(path, at string) (*explain.Answer, error) { return answerFor(path, at, 0, nil) }

// answerFor compares with a budget, too; nil: the one that the recording was made
// with, if any.
func answerFor(path, at string, pid int, expected *budget.Budget) (*explain.Answer, error) {
	r, err := recording.Open(path)
	if err != nil {
		return nil, recordingError(err)
	}
	defer r.Close()
	e, err := explain.LoadOf(r, path, at, pid)
	if err != nil && r.Damage() != nil {
		return nil, recordingError(fmt.Errorf("%s: %w; no snapshot of the program's memory could be read", shortName(path), r.Damage()))
	}
	if err != nil {
		return nil, momentError(err, path)
	}
	if expected != nil {
		e.Asked.Budget = expected
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
	n, notesErr := readNotes()
	a.Verdict.Note = n.of(a.Verdict.Fingerprint)
	if a.Verdict.Fingerprint != "" {
		readTried().tell(a)
	}
	// What the user wrote wrongly takes nothing else away.
	for what, err := range map[string]error{"your own causes": causesErr, "notes": notesErr} {
		if err != nil {
			a.Gaps = append([]explain.Gap{{What: what, Why: err.Error()}}, a.Gaps...)
		}
	}
	return a, nil
}

// recordingError adds what to do about a file that cannot be read.
func recordingError(err error) error {
	var newer recording.ErrNewer
	var refused *fs.PathError
	switch {
	case errors.As(err, &refused) && errors.Is(err, fs.ErrPermission):
		return forbidden(refused.Path)
	case errors.As(err, &newer):
		return &exitError{code: exitFailed, err: err, hint: "go install github.com/highwater-go/highwater/cmd/highwater@latest"}
	case errors.As(err, new(recording.ErrCut)):
		return &exitError{code: exitFailed, err: err, hint: "copy it again from where it was made: a cut recording can be read once its tables are there, the first 120 KiB"}
	case errors.Is(err, recording.ErrDamaged):
		return &exitError{code: exitFailed, err: err, hint: "another copy may be whole: highwater verify FILE checks it"}
	case errors.As(err, new(recording.ErrForeign)):
		return &exitError{code: exitFailed, err: err, hint: "highwater reads recordings as highwater wrote them; sqlite3 -readonly reads it, if you trust who made it"}
	case errors.Is(err, recording.ErrNotRecording):
		return usagef("highwater list shows the recordings", "%w", err)
	}
	return err
}

// print writes the answer in the form asked for.
func (f explainFlags) print(s *streams, path string, a *explain.Answer) error {
	if len(a.Gaps) > 0 && a.Gaps[0].What == damagedGap { // not every form shows gaps
		sayDamage(s, path, a.Gaps[0].Why)
	}
	switch {
	case f.evidence != "":
		return printEvidence(s, a, f.evidence)
	case f.json:
		return report.JSON(s.out, a)
	case f.latency && a.Latency == nil:
		return usagef("highwater run --probe http://127.0.0.1:8080/ -- ./server", "%s has no requests: its watch had no --probe, or nothing answered", shortName(path))
	case f.latency:
		return report.LatencyText(s.page(), a.Latency, s.look().With("highwater explain "+typed(path)))
	}
	name := typed(path)
	next := "highwater open " + name + "      highwater export --pprof " + name + " -o heap.pb.gz"
	if a.Sampling.View == "none" {
		next = "highwater open " + name + "      highwater export --csv " + name + " -o samples.csv"
	}
	o := s.look().With(next)
	o.Source, o.NoSource = f.sourceLines(path), f.noSource
	return report.Text(s.page(), a, o)
}

// printEvidence prints facts with their figures.
func printEvidence(s *streams, a *explain.Answer, id string) error {
	found := false
	e := json.NewEncoder(s.out)
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
		return usagef("highwater explain shows them in brackets; --evidence all prints all", "the answer has no fact %q", id)
	}
	return nil
}

// earlier is the other recordings of the same program in the state directory.
type earlier struct{ path string }

// Seen counts the recordings made before this one whose cause was the same.
func (e earlier) Seen(fingerprint string) (int, error) {
	all, err := storedRecordings()
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
		if other.path == e.path || other.changed.After(self.ModTime()) || programOf(other.path) != programOf(e.path) {
			continue
		}
		if fingerprintOf(other.path) == fingerprint {
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
	base := strings.TrimSuffix(filepath.Base(path), suffix)
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
