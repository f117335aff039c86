package app

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/units"
	"github.com/highwater-go/highwater/internal/words/visible"
)

// The rows of a recording's meta that run adds once it is explained.
const (
	metaVerdict     = "verdict"     // class
	metaSentence    = "sentence"    // of the verdict
	metaState       = "state"       // killed, exited, running
	metaFingerprint = "fingerprint" // of the cause, "" if there is none
	metaPeak        = "peak"        // bytes, as the answer has it
)

// watched is the state of a program that ran on when its recording was finished.
const watched = "watched"

// Listed is one recording in a list.
type Listed struct {
	Name        string    `json:"name"`
	Path        string    `json:"path"`
	Bytes       int64     `json:"bytes"`
	Started     time.Time `json:"started"`
	Program     string    `json:"program"`
	Limit       uint64    `json:"limit_bytes,omitempty"` // that was asked for, else that of the cgroup
	Peak        uint64    `json:"peak_bytes,omitempty"`  // as the answer has it, else the greatest of a moment
	State       string    `json:"state"`                 // "recording", "cut short", "watched" or the outcome
	Seconds     float64   `json:"seconds,omitempty"`     // from the start to the end of the recording, of one that is finished
	Verdict     string    `json:"verdict"`               // class, "" if it was not explained yet
	Fingerprint string    `json:"fingerprint"`
	// Cause says of the fingerprint whether it was "new" in this recording, "known"
	// from an earlier one of the program, or "accepted" by its note.
	Cause   string        `json:"cause"`
	Note    *explain.Note `json:"note"`
	Problem string        `json:"problem,omitempty"`
}

// Describe opens a recording; what is wrong with it is part of the answer.
func Describe(f stored) Listed {
	l := Listed{Name: ShortName(f.Path), Path: f.Path, Bytes: f.Bytes, Started: f.Changed}
	r, err := recording.Open(f.Path)
	if err != nil {
		l.State, l.Problem = "unreadable", err.Error()
		return l
	}
	defer r.Close()
	m, err := r.Meta()
	if err != nil {
		l.State, l.Problem = "unreadable", err.Error()
		return l
	}
	l.Started = m.At
	if len(m.Command) > 0 {
		l.Program = m.Command[0]
	}
	l.State, l.Verdict, l.Fingerprint = m.More[metaState], m.More[metaVerdict], m.More[metaFingerprint]
	l.Peak, l.Limit = chargeOf(r, m.Limit)
	if peak, err := strconv.ParseUint(m.More[metaPeak], 10, 64); err == nil {
		l.Peak = peak
	}
	if damage := r.Damage(); damage != nil {
		l.Problem = damage.Error()
	}
	at, closed := r.Closed()
	switch {
	case closed:
		l.Seconds = at.Sub(m.At).Seconds()
		if l.State == string(explain.Running) {
			l.State = watched
		}
	case r.Live():
		l.State = "recording"
	default:
		l.State = "cut short"
	}
	return l
}

// outcome is the state in words.
func (l *Listed) outcome() string {
	if l.State == watched {
		return watched + " " + units.Duration(time.Duration(l.Seconds*float64(time.Second)))
	}
	return orDash(l.State)
}

// chargeOf is the greatest charge of a moment, without any the greatest memory of its
// processes, and the limit: the one that was asked for, else that of the cgroup at that
// moment. What is not known is 0.
func chargeOf(r *recording.Reader, asked sample.Opt[sample.Bytes]) (peak, limit uint64) {
	moments, err := r.Moments()
	if err != nil {
		return 0, uint64(asked.V)
	}
	var most recording.MomentInfo
	for _, m := range moments {
		if m.Usage.OK && (!most.Usage.OK || m.Usage.V > most.Usage.V) {
			most = m
		}
	}
	if !asked.OK && most.Usage.OK {
		if m, err := r.Moment(most.ID); err == nil && m.Cgroup != nil {
			asked = m.Cgroup.Limit
		}
	}
	peak = uint64(most.Usage.V)
	if !most.Usage.OK {
		peak = anonymousOf(moments)
	}
	return peak, uint64(asked.V)
}

// anonymousOf is the greatest memory of the processes of a moment.
func anonymousOf(moments []recording.MomentInfo) (most uint64) {
	for _, m := range moments {
		sum := uint64(0)
		for _, p := range m.Processes {
			sum += uint64(p.Anon.V)
		}
		most = max(most, sum)
	}
	return most
}

// TellCauses says of each fingerprint whether it is new; the list is newest first.
func TellCauses(all []Listed, n notes) {
	seen := map[[2]string]bool{}
	for i := len(all) - 1; i >= 0; i-- {
		l := &all[i]
		if l.Fingerprint == "" {
			continue
		}
		l.Note = n.of(l.Fingerprint)
		key := [2]string{programOf(l.Path), l.Fingerprint}
		switch {
		case l.Note != nil && l.Note.Accepted:
			l.Cause = "accepted"
		case l.Note != nil || seen[key]:
			l.Cause = "known"
		default:
			l.Cause = "new"
		}
		seen[key] = true
	}
}

func PrintList(s *Streams, all []Listed) {
	if len(all) == 0 {
		visible.Fprintf(s.Out, "no recording yet\nhighwater run -- PROGRAM\n")
		return
	}
	table := [][]string{{"RECORDING", "STARTED", "SIZE", "PEAK", "LIMIT", "OUTCOME", "VERDICT", "FINGERPRINT"}}
	for _, l := range all {
		table = append(table, []string{l.Name, l.Started.Local().Format("2006-01-02 15:04"), units.Size(l.Bytes), sizeOrDash(l.Peak, units.Size[uint64]),
			sizeOrDash(l.Limit, units.Limit[uint64]), l.outcome(), orDash(l.Verdict), strings.TrimSpace(orDash(l.Fingerprint) + " " + l.Cause)})
	}
	for i, line := range aligned(table, 5) {
		visible.Fprintf(s.Out, "%s\n", line)
		if i == 0 {
			continue
		}
		l := all[i-1]
		if l.Note != nil && l.Note.Text != "" {
			visible.Fprintf(s.Out, "  %s\n", l.Note.Text)
		}
		if l.Problem != "" {
			visible.Fprintf(s.Out, "  %s\n", l.Problem)
		}
	}
	printGroups(s, GroupsOf(all))
	visible.Fprintf(s.Out, "\n%s\n", takes(all))
	if i := slices.IndexFunc(all, func(l Listed) bool { return l.Problem == "" }); i >= 0 {
		visible.Fprintf(s.Out, "highwater explain %s\n", typed(all[i].Path))
	}
}

// takes is what all recordings take with those of trials, and may take.
func takes(all []Listed) string {
	var bytes int64
	for _, l := range all {
		bytes += l.Bytes
	}
	text := sized(len(all), bytes)
	if trials := keptTrials(); len(trials) > 0 {
		text = fmt.Sprintf("%s and %d of try or fit, %s", many(len(all)), len(trials), units.Size(bytes+sum(trials)))
	}
	if bound, err := stateBound(); err == nil && bound > 0 {
		text += " of at most " + units.Limit(bound)
	}
	return text + "; highwater prune removes old ones"
}

// longestAligned is how long a name may be that the columns behind it are aligned for; a longer one moves those of its own row.
const longestAligned = 48

// aligned is a table with columns as wide as what is in them; those from the third to
// the one before end are right-aligned.
func aligned(table [][]string, end int) []string {
	wide := make([]int, len(table[0]))
	for _, row := range table {
		for i, cell := range row {
			wide[i] = max(wide[i], utf8.RuneCountInString(cell))
		}
	}
	wide[0] = min(wide[0], longestAligned)
	lines := make([]string, 0, len(table))
	for _, row := range table {
		var line strings.Builder
		for i, cell := range row {
			format := "%-*s  "
			if i >= 2 && i < end {
				format = "%*s  "
			}
			fmt.Fprintf(&line, format, wide[i], cell)
		}
		lines = append(lines, strings.TrimRight(line.String(), " "))
	}
	return lines
}

func sizeOrDash(n uint64, print func(uint64) string) string {
	if n == 0 {
		return "-"
	}
	return print(n)
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
