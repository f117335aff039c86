package app

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/decide/trial"
	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/units"
	"github.com/highwater-go/highwater/internal/words/visible"
)

// ProofRuns are how often each fix of a recording runs, where --runs does not say.
const ProofRuns = 3

// proof is a trial of what an answer proposes.
type proof struct {
	path  string
	name  string        // of the recording, as it was given
	fixes []explain.Fix // fixes[i] is variants[i+1]
}

// Recorded says whether the arguments begin with a recording, not with NAME=CMD: try is
// then of its fixes. A path may have an = too, behind its first slash.
func Recorded(args []string, dash int) bool {
	if dash >= 0 || len(args) == 0 {
		return false
	}
	name, _, variant := strings.Cut(args[0], "=")
	return !variant || strings.Contains(name, "/")
}

// PlanProof makes a trial of the fixes that explain prints for a recording: the program
// as it was, and each fix that is a setting or a limit, as it was run. Further arguments
// are programs with a change of the code: fixed=./server-new.
func (f TryFlags) PlanProof(args []string) (*Try, error) {
	path, err := FindRecording(args[:1])
	if err != nil {
		return nil, err
	}
	name := ShortName(path)
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	if f.Output != "" {
		if f.Output, err = filepath.Abs(f.Output); err != nil {
			return nil, err
		}
	}
	a, err := answer(path, "")
	if err != nil {
		return nil, err
	}
	changed := args[1:]
	var given *trial.Command
	if len(changed) > 0 && strings.HasPrefix(changed[0], "base=") {
		v, err := parseVariant(changed[0])
		if err != nil {
			return nil, err
		}
		given, changed = &v.command, changed[1:]
	}
	base, err := f.again(path, given)
	if err != nil {
		return nil, err
	}
	t := &Try{TryFlags: f, variants: []variant{base}, proof: &proof{path: path, name: name}}
	t.variants, t.proof.fixes, err = t.proposed(a, changed)
	if err != nil {
		return nil, err
	}
	for _, v := range t.variants {
		if _, err := t.TryFlags.flagsFor(t.limitOf(v), "").Plan(v.command.Args); err != nil {
			return nil, gone(err)
		}
	}
	t.stage, err = t.TryFlags.stage(filepath.Base(base.command.Args[0]) + "-try")
	return t, err
}

// again is the program as it was recorded, and sets the flags to what it was recorded
// with. Nothing is made up: what the recording does not have is an error, unless the
// command is given.
func (f *TryFlags) again(path string, given *trial.Command) (base variant, err error) {
	reader, err := recording.Open(path)
	if err != nil {
		return base, recordingError(err)
	}
	defer reader.Close()
	meta, err := reader.Meta()
	if err != nil {
		return base, err
	}
	r := recordedRun{name: ShortName(path), meta: &meta, command: trial.Command{Env: strings.Fields(meta.More[metaSettings]), Args: meta.Command}, load: f.Load}
	if r.given = given != nil; r.given {
		r.command = *given
	}
	if r.loadGiven = f.Load != ""; !r.loadGiven {
		r.load = meta.More[metaLoad]
	}
	if err := r.startable(); err != nil {
		return base, err
	}
	if !meta.Limit.OK && f.Limit == "" {
		return base, Usagef("highwater try --limit 256MiB "+r.name, "%s was made without a limit: there is nothing to survive", r.name)
	}
	foreign := !f.RunRecorded && !isOwn(&meta)
	if foreign && r.runsWhatWasRecorded() {
		return base, refuseForeign(path, &meta, !r.given, r.load)
	}
	if !foreign {
		if err := r.enter(); err != nil {
			return base, err
		}
	}
	if f.Limit == "" {
		f.Limit = units.Env(meta.Limit.V)
	}
	f.Load, f.Ready = r.load, meta.More[metaReady]
	if took, err := time.ParseDuration(meta.More[metaFor]); err == nil {
		f.RunFor = took
	}
	return newVariant("base", r.command), nil
}

// givesCommands is the hint for a recording that does not say how to start its program.
const givesCommands = "highwater try --limit 256MiB --load ./load.sh base=CMD fixed=CMD runs commands that you give"

// recordedRun is how a program and its load are to be started again: as a recording says it, or as it was given.
type recordedRun struct {
	name             string // of the recording
	meta             *recording.Meta
	command          trial.Command
	load             string
	given, loadGiven bool
}

// startable refuses what the recording does not say whole.
func (r *recordedRun) startable() error {
	notRun := !r.given && (r.meta.More["watched"] != "" || r.meta.More[metaImported] != "")
	text := strings.Join(append(slices.Clone(r.command.Env), r.command.Args...), " ") + " " + r.load
	switch {
	case len(r.command.Args) == 0 || notRun:
		return Usagef(givesCommands, "%s was not made by highwater run: how to start the program is not known", r.name)
	case strings.Contains(text, "***"):
		return Usagef(givesCommands, "the command line of %s had secrets, which were left out: it cannot be run again", r.name)
	case strings.Contains(text, "…"):
		return Usagef("highwater try "+r.name+" --load LOAD base=CMD gives the command again; highwater run --keep-args keeps it",
			"values of the command line were left out of %s: how to run it again is not known", r.name)
	}
	return nil
}

// enter goes to the directory that the recording was made in.
func (r *recordedRun) enter() error {
	dir := r.meta.More[metaDir]
	if dir == "" {
		return nil
	}
	if err := os.Chdir(dir); err != nil {
		return Usagef(givesCommands, "the directory that %s was made in is gone: %w", r.name, err)
	}
	return nil
}

// runsWhatWasRecorded reports whether a command of the recording is to be run, which its maker may have chosen.
func (r *recordedRun) runsWhatWasRecorded() bool { return !r.given || !r.loadGiven && r.load != "" }

// refuseForeign says what a recording that this user has not made would have run.
func refuseForeign(path string, meta *recording.Meta, command bool, load string) error {
	var runs []string
	if command {
		runs = append(runs, visible.Shell(append(strings.Fields(meta.More[metaSettings]), meta.Command...)...))
	}
	if load != "" {
		runs = append(runs, visible.Shell("sh", "-c", load))
	}
	return Usagef("highwater try "+visible.Shell(ShortName(path))+" --run-recorded runs it, if you trust who made the recording",
		"%s was not made by you on this machine, or was changed, and try would run what it says: %s, in %s", ShortName(path),
		strings.Join(runs, ", and as its load "), visible.Shell(meta.More[metaDir]))
}

// proposed are the variants to run, the base first, and the fixes that they are.
func (t *Try) proposed(a *explain.Answer, changed []string) (list []variant, fixes []explain.Fix, err error) {
	base := t.variants[0]
	list = t.variants
	for _, f := range a.Fixes {
		if f.Kind == "code" {
			continue
		}
		c := base.command
		if f.Setting != "" {
			c.Env = append(slices.Clone(c.Env), f.Setting)
		}
		v := newVariant(strings.ToLower(f.ID), c)
		v.limit, v.Note = units.Env(f.Limit), f.Text
		list, fixes = append(list, v), append(fixes, f)
	}
	for _, arg := range changed {
		v, err := parseVariant(arg)
		if err != nil {
			return nil, nil, err
		}
		if len(v.command.Args) == 1 { // a program alone takes the recorded arguments
			v.command.Args = append(v.command.Args, base.command.Args[1:]...)
			v = newVariant(v.Name, v.command)
		}
		v.command.Env = append(slices.Clone(base.command.Env), v.command.Env...)
		list, fixes = append(list, v), append(fixes, codeFixOf(a, v.Name))
	}
	if len(list) == 1 {
		why := "no setting or limit to try"
		if a.NotPredicted != "" {
			why += ", because " + a.NotPredicted
		}
		return nil, nil, Usagef("rebuild the program with a change, then: highwater try "+t.proof.name+" fixed=./PROGRAM-NEW", "%s has %s", t.proof.name, why)
	}
	return list, fixes, t.several(list)
}

// codeFixOf is the change of the code that an answer proposes, one of that name where it
// proposes none.
func codeFixOf(a *explain.Answer, name string) explain.Fix {
	for _, f := range a.Fixes {
		if f.Kind == "code" {
			return f
		}
	}
	return explain.Fix{Text: name, Kind: "code"}
}

// gone adds what to do where the program that was recorded is not there any more.
func gone(err error) error {
	var e *ExitError
	if errors.As(err, &e) {
		e.Hint = "the recording names what was run then; build it again there, or: highwater try --limit 256MiB base=CMD fixed=CMD"
	}
	return err
}

// limitOf is the limit that a variant runs under.
func (t *Try) limitOf(v variant) string {
	if v.limit != "" {
		return v.limit
	}
	return t.Limit
}

// write keeps in the recording what became of its fixes.
func (p *proof) write(t *Try, a *trial.Answer) ([]recording.Tried, error) {
	now := time.Now()
	var list []recording.Tried
	for i, v := range t.variants {
		n, err := units.ParseSize(t.limitOf(v))
		if err != nil || i >= len(a.Variants) {
			return nil, err
		}
		one := recording.Tried{At: now, Kind: "base", Name: v.Name, Limit: sample.Bytes(n), Runs: a.Variants[i].Runs, Lost: a.Variants[i].Lost,
			Why: a.Variants[i].Counts()}
		if i > 0 {
			one.Fix, one.Kind = p.fixes[i-1].Text, p.fixes[i-1].Kind
		}
		list = append(list, one)
	}
	return list, recording.AddTried(p.path, list)
}

// conclude keeps and prints the outcome. A base that never failed proves nothing.
func (p *proof) conclude(t *Try, s *Streams, a *trial.Answer) error {
	if a.Variants[0].Lost == 0 {
		t.status.end()
		visible.Fprintf(s.Out, "%s survived %s in all of %d runs as it is: nothing is proved by what survives, too.\n", a.Program, units.Limit(a.Limit),
			a.Variants[0].Runs)
		return ExitWith(ExitInconclusive)
	}
	list, err := p.write(t, a)
	if err != nil {
		return err
	}
	t.status.end()
	for _, one := range list {
		name, state := one.Name, one.Why
		if one.Kind != "base" {
			name = one.Fix
		}
		if one.Kind != "base" && one.Lost == 0 {
			state = explain.Proved + ": " + state
		}
		visible.Fprintf(s.Out, "  %-52s %s under %s\n", name, state, units.Limit(one.Limit))
	}
	visible.Fprintf(s.Out, "highwater explain %s\n", p.name)
	return nil
}
