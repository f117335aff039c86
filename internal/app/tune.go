package app

import (
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/measure/pacer"
	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/show/report"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/units"
)

type TuneFlags struct {
	Limit, GOGC, MemoryLimit, GCAt string
	JSON                           bool
}

func (f TuneFlags) Tune(s *Streams, path string) error {
	r, err := recording.Open(path)
	if err != nil {
		return recordingError(err)
	}
	defer r.Close()
	defer tellDamage(s, r, path)
	o, err := f.options(r)
	if err != nil {
		return err
	}
	o.Recording = filepath.Base(path)
	h, err := pacer.Load(r)
	if err != nil {
		return &ExitError{Code: ExitInconclusive, Err: err, Hint: "highwater run -- PROGRAM records a Go program with its collector"}
	}
	a := pacer.Tune(h, o)
	meta, err := r.Meta()
	if err != nil {
		return err
	}
	if err := f.print(s, path, a, meta.Command); err != nil {
		return err
	}
	if a.Grade == pacer.Refused {
		return ExitWith(ExitInconclusive)
	}
	return nil
}

// options reads the flags' lists.
func (f TuneFlags) options(r *recording.Reader) (o pacer.Options, err error) {
	if f.Limit != "" {
		n, err := units.ParseSize(f.Limit)
		if err != nil {
			return o, Usagef("highwater tune --limit 512MiB", "--limit: %w", err)
		}
		o.Limit = sample.Bytes(n)
	}
	for _, text := range words(f.GOGC) {
		v, err := parseGOGC(text)
		if err != nil {
			return o, err
		}
		o.GOGC = append(o.GOGC, v)
	}
	for _, text := range words(f.MemoryLimit) {
		v, err := parseMemoryLimit(text)
		if err != nil {
			return o, err
		}
		o.MemoryLimit = append(o.MemoryLimit, v)
	}
	if f.GCAt != "" {
		o.GCAt, err = forcedGCsAt(r, f.GCAt)
	}
	return o, err
}

// words are the parts of a list; an empty text has none.
func words(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}

func parseGOGC(text string) (int32, error) {
	if text == "off" || text == "-1" {
		return -1, nil
	}
	v, err := strconv.ParseInt(text, 10, 32)
	if err != nil || v < 1 {
		return 0, Usagef("highwater tune --gogc 20,50,off", "--gogc: %q is not a percentage above 0, nor off", text)
	}
	return int32(v), nil
}

func parseMemoryLimit(text string) (int64, error) {
	if text == "off" {
		return sample.NoMemoryLimit, nil
	}
	n, err := units.ParseSize(text)
	if err != nil || n < uint64(sample.MiB) || n > math.MaxInt64/2 {
		return 0, Usagef("highwater tune --gomemlimit 450MiB,off", "--gomemlimit: %q is not a size of 1 MiB or more, nor off", text)
	}
	return int64(n), nil
}

// forcedGCsAt reads --gc-at: an interval, or else the kind of an event.
func forcedGCsAt(r *recording.Reader, text string) (*pacer.ForcedGCs, error) {
	a, err := pacer.ParseForcedGCs(text, units.ParseSize)
	if err == nil {
		return a, nil
	}
	events, err := r.Events()
	if err != nil {
		return nil, err
	}
	a, kinds := &pacer.ForcedGCs{Text: text}, map[string]bool{}
	for _, e := range events {
		kinds[string(e.Kind)] = true
		if string(e.Kind) == text {
			a.At = append(a.At, e.At)
		}
	}
	if len(a.At) == 0 {
		return nil, Usagef("highwater tune --gc-at 3s, 100MiB, 32x, or an event of the recording",
			"--gc-at: the recording has no event %q; it has %s", text, strings.Join(slices.Sorted(maps.Keys(kinds)), ", "))
	}
	return a, nil
}

func (f TuneFlags) print(s *Streams, path string, a *pacer.Answer, command []string) error {
	if f.JSON {
		return report.JSON(s.Out, a)
	}
	return report.TuneText(s.page(), a, s.look().With(nextOfTune(path, a, command)))
}

// nextOfTune is the command that makes more of it: a run under the limit. command is
// what was recorded; a program that it started has arguments that nobody knows.
func nextOfTune(path string, a *pacer.Answer, command []string) string {
	if a.Recommended == nil {
		return "highwater explain " + typed(path)
	}
	program := []string{a.Program}
	if len(command) > 0 && filepath.Base(command[0]) == a.Program {
		program = append(program, command[1:]...)
	}
	return underLimit(a.Recommended) + explain.Shell(program...)
}

// underLimit begins the command that runs a program as recommended. The setting is for the
// program, not for highwater.
func underLimit(r *pacer.Recommended) string {
	text := fmt.Sprintf("highwater run --limit %s -- ", units.Env(r.Limit))
	if r.GOMEMLIMIT > 0 {
		text += "env GOMEMLIMIT=" + units.Env(r.GOMEMLIMIT) + " "
	}
	return text
}
