package app

import (
	"errors"
	"fmt"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/pull"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/sorting"
)

// profiles imports heap profiles of one program.
func (i *importer) profiles(files []source) error {
	untimed := inOrder(files)
	var series pull.Series
	steps := make([]pull.Step, len(files))
	for n, f := range files {
		var err error
		if steps[n], err = series.Add(f.profile); err != nil {
			return Usagef("import the profiles of one program at a time", "%s: %w", f.path, err)
		}
	}
	first := files[0].profile
	if err := i.create("profiles", first.Program.Name(), first.At); err != nil {
		return err
	}
	p := profileWriter{importer: i}
	err := p.notes(untimed)
	for n, f := range files {
		err = errors.Join(err, p.add(f.profile, steps[n], "heap profile from "+f.base()))
	}
	return i.finish(err)
}

// inOrder sorts by the profiles' own times. Where one has none, that of its
// file's last change is taken, and the file named.
func inOrder(files []source) (untimed string) {
	for _, f := range files {
		if f.profile.At.IsZero() {
			f.profile.At, untimed = f.changed, f.base()
		}
	}
	sorting.Stable(files, func(a, b source) int { return a.profile.At.Compare(b.profile.At) })
	return untimed
}

// profileWriter writes the profiles of one program, one process after another.
type profileWriter struct {
	*importer
	key    sample.ProcessKey
	lives  int
	most   int64 // greatest in use so far
	scaled bool  // it was said that the error is not known
}

// notes are the gaps that hold for all profiles.
func (p *profileWriter) notes(untimed string) error {
	err := errors.Join(
		p.gap(p.key, time.Time{}, time.Time{}, "the memory of the process", "a heap profile tells of the Go heap alone, as it was one or two collections before"),
		p.gap(p.key, time.Time{}, time.Time{}, "goroutines, the runtime's figures, how the program ended", "they are not in a heap profile"))
	if untimed != "" {
		err = errors.Join(err, p.gap(p.key, time.Time{}, time.Time{}, "when the profiles were made",
			fmt.Sprintf("%s does not say; its file's last change was taken", untimed)))
	}
	return err
}

// add writes one profile as a moment.
func (p *profileWriter) add(profile *pull.Profile, step pull.Step, note string) error {
	if step.Restarted {
		if err := p.life(profile); err != nil {
			return err
		}
	}
	if profile.Scaled != "" && !p.scaled {
		p.scaled = true
		if err := p.gap(p.key, profile.At, time.Time{}, "the error of sampling", profile.Scaled); err != nil {
			return err
		}
	}
	m := &sample.Moment{At: profile.At, Kind: sample.MomentCalm, Processes: []sample.ProcessMoment{{Key: p.key, Profile: step.Profile}}}
	if profile.InUse > p.most {
		p.most, m.Kind = profile.InUse, sample.MomentMax
	}
	return errors.Join(
		p.w.Event(sample.Event{At: profile.At, Kind: sample.EventNote, Process: p.key, Text: note}),
		p.w.Sites(p.key, step.First, step.Sites),
		p.w.Moment(m))
}

// life begins another process. Its pid is not known.
func (p *profileWriter) life(profile *pull.Profile) error {
	if p.lives++; p.lives > 1 {
		p.sayf("the program was started again before %s: less was allocated than before", profile.At.Format(time.DateTime))
	}
	p.key = sample.ProcessKey{Start: uint64(p.lives)}
	return p.w.Program(sample.Program{
		Key: p.key, Name: profile.Program.Name(), Exe: profile.Program.Exe, HeapProfile: sample.HeapProfileOn,
		Go: &sample.GoProgram{BuildID: profile.Program.BuildID, Module: pull.ModuleOf(profile.Sites)},
	})
}
