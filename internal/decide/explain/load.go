package explain

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// Load reads from a recording what is to be known of one moment in it: "kill",
// "peak", "last", a time, or "" for the kill if there was one, else the peak. The
// error is ErrNoMoment, one of how at was written, or one of reading.
func Load(r *recording.Reader, path, at string) (*Evidence, error) {
	return loadBeside(r, path, at, 0, nil)
}

// LoadAgain is Load of another moment of a recording that whole was loaded from.
// The course of the run, which is most of the reading of a long one, is taken from
// there if it is of the same process; Spans are then those of whole's moment.
func LoadAgain(r *recording.Reader, path, at string, whole *Evidence) (*Evidence, error) {
	return loadBeside(r, path, at, 0, whole)
}

func loadBeside(r *recording.Reader, path, at string, pid int, whole *Evidence) (*Evidence, error) {
	l := loader{Reader: r, e: &Evidence{Recording: filepath.Base(path), SiteView: "none"}}
	if err := l.begin(at, pid); err != nil {
		return nil, err
	}
	course := []func() error{l.sites, l.resident, l.nativeLive, l.heap}
	if whole != nil && whole.Subject == l.e.Subject {
		l.follow(whole)
	} else {
		history := l.history()
		course = []func() error{l.ticks, l.collections, l.tried, l.mallocs, l.lookedFiles, l.sites, l.resident, l.nativeLive, l.asked, l.heap, l.end, history}
	}
	for _, step := range course {
		if err := step(); err != nil {
			return nil, fmt.Errorf("explain %s: %w", l.e.Recording, err)
		}
	}
	return l.e, nil
}

// begin reads the story and the moment.
func (l *loader) begin(at string, pid int) error {
	err := l.story()
	if err == nil && pid != 0 {
		err = l.only(pid)
	}
	if err == nil {
		err = l.moment(at)
	}
	if err != nil {
		return fmt.Errorf("explain %s: %w", l.e.Recording, err)
	}
	return nil
}

// follow takes over what does not depend on the moment.
func (l *loader) follow(whole *Evidence) {
	e := l.e
	e.Ticks, e.Cycles, e.Probed, e.Spans, e.Peak, e.End = whole.Ticks, whole.Cycles, whole.Probed, whole.Spans, whole.Peak, whole.End
	e.History, e.Tried, e.Mallocs, e.Files = whole.History, whole.Tried, whole.Mallocs, whole.Files
}

// loader is a Load at work.
type loader struct {
	*recording.Reader
	e       *Evidence
	moments []recording.MomentInfo
	chosen  int   // index of the moment
	rows    int64 // how many samples, and of what else is as many, are read
}

// story reads who ran, what happened and when it began and ended.
func (l *loader) story() (err error) {
	e := l.e
	meta, err := l.Meta()
	if err != nil {
		return err
	}
	e.Command, e.Load, e.Imported, e.Watched = meta.Command, meta.More["load"], meta.More["imported"], meta.More["watched"] != ""
	e.Place = meta.More["place"]
	if e.Programs, err = l.Programs(); err != nil {
		return err
	}
	nameScripts(e.Programs)
	if e.Events, err = l.Events(); err != nil {
		return err
	}
	if e.Gaps, err = l.Gaps(); err != nil {
		return err
	}
	if l.moments, err = l.Moments(); err != nil {
		return err
	}
	e.Events, e.Released = endedAtTheirDeath(e.Events, l.moments)
	for _, m := range l.moments {
		if m.Usage.OK && m.PageCache.OK {
			e.Hard = max(e.Hard, m.Usage.V.Sub(m.PageCache.V))
		}
	}
	if ready, ok := firstEvent(e, sample.EventReady); ok {
		e.Ready = ready.Text
	}
	e.Start = meta.At
	if first, ok := firstEvent(e, sample.EventStart); ok {
		e.Start = first.At
	}
	e.End = e.Start
	for _, ev := range e.Events {
		if ev.At.After(e.End) {
			e.End = ev.At
		}
	}
	return nil
}

// endedAtTheirDeath are the events with each exit at the instant at which the process was held for its last reading: that was
// its end. The reading comes after it, though the parent waits for that, too; released is when it was over.
func endedAtTheirDeath(events []sample.Event, moments []recording.MomentInfo) (ended []sample.Event, released map[sample.ProcessKey]time.Time) {
	ended, released = slices.Clone(events), map[sample.ProcessKey]time.Time{}
	for i, ev := range ended {
		for _, m := range moments {
			if ev.Kind == sample.EventExit && m.Kind == sample.MomentDeath && len(m.Processes) > 0 && m.Processes[0].Key == ev.Process && m.At.Before(ev.At) {
				released[ev.Process] = ev.At
				if at := m.At.Add(time.Millisecond); at.Before(ev.At) {
					ended[i].At = at
				}
			}
		}
	}
	return ended, released
}

// moment reads the chosen moment, and the processes that lived beside it.
func (l *loader) moment(at string) error {
	_, killed := l.e.oomKill()
	if err := l.within(at); err != nil {
		return err
	}
	i, name, err := chooseMoment(l.moments, at, killed, l.e.Start)
	if err != nil {
		return err
	}
	if name == "peak" && l.e.Imported == "core" {
		name = "last" // one instant is no peak
	}
	m, err := l.Moment(l.moments[i].ID)
	if err == nil && name == "peak" {
		if before := l.filledAt(i, m); before != i {
			i = before
			m, err = l.Moment(l.moments[i].ID)
		}
	}
	if err != nil {
		return err
	}
	for j := range m.Processes {
		if mainReturned(m.Processes[j]) {
			m.Processes[j].Live = nil
		}
	}
	l.chosen, l.e.At, l.e.Moment = i, name, *m
	if err := l.beside(); err != nil {
		return err
	}
	l.e.Subject = subjectOf(l.e)
	if key, ok := l.grower(); ok {
		l.e.Subject = key
	}
	return l.threadsAfter()
}

// grower is the Go process that grew alone, where another is larger: of several the answer is about the one with the
// memory, but a child that grows beside a parent at rest is the cause. Growth counts from a third of the time on.
func (l *loader) grower() (best sample.ProcessKey, ok bool) {
	e := l.e
	if e.Of != (sample.ProcessKey{}) || e.At == "kill" || len(e.Moment.Processes) < 2 {
		return best, false
	}
	point, err := l.PointAt(e.Start.Add(e.Moment.At.Sub(e.Start) / 3))
	if err != nil {
		return best, false
	}
	before := map[sample.ProcessKey]sample.Bytes{}
	for _, p := range point.Processes {
		if p.Resident != nil {
			before[p.Key] = p.Resident.Anon()
		}
	}
	var most, other sample.Bytes
	for _, p := range e.Moment.Processes {
		then, known := before[p.Key]
		switch grown := anonOf(p).Sub(then); {
		case !known || !e.isGo(p.Key) || e.besideRow(p.Key) != "":
		case grown > most:
			best, most, other = p.Key, grown, most
		default:
			other = max(other, grown)
		}
	}
	return best, float64(most) >= leastGrown.v() && float64(other) <= partOfGrower.v()*float64(most)
}

// mainReturned reports whether the process ended with code 0, as it does when main returns. What main held is out of
// reach then, and a mark says nothing of its life.
func mainReturned(p sample.ProcessMoment) bool {
	return p.ExitCode.OK && p.ExitCode.V == 0 && p.Signal == 0
}

// beside adds the processes that a death, which is one process's moment, leaves
// out: as the last sample before it saw them.
func (l *loader) beside() error {
	m := &l.e.Moment
	held := map[sample.ProcessKey]bool{}
	for _, p := range m.Processes {
		held[p.Key] = true
	}
	for _, ev := range l.e.Events {
		if ev.Kind == sample.EventExit && !ev.At.After(m.At) {
			held[ev.Process] = true
		}
	}
	point, err := l.PointAt(m.At)
	if err != nil {
		return nil // no sample before it: nothing is known of others
	}
	for _, p := range point.Processes {
		if !held[p.Key] && p.Resident != nil {
			m.Processes = append(m.Processes, sample.ProcessMoment{Key: p.Key, Resident: p.Resident, Go: p.Go})
		}
	}
	return nil
}

// subjectOf is the process that the answer is about: of those that died by
// SIGKILL at a kill, else of all, the Go program with the most memory, else the
// program with the most.
func subjectOf(e *Evidence) sample.ProcessKey {
	if e.Of != (sample.ProcessKey{}) {
		return e.Of
	}
	var best sample.ProcessKey
	most := -1.0
	for _, p := range e.Moment.Processes {
		if e.besideRow(p.Key) != "" {
			continue
		}
		weight := float64(anonOf(p))
		if e.isGo(p.Key) {
			weight *= 1e3
		}
		if e.At == "kill" && p.Signal == 9 {
			weight = (weight + 1) * 1e9
		}
		if weight > most {
			best, most = p.Key, weight
		}
	}
	if most < 0 && len(e.Programs) > 0 {
		best = e.Programs[0].Key
	}
	return best
}

func (l *loader) collections() (err error) {
	l.e.Cycles, err = l.CyclesAbout(l.rows, l.e.Subject)
	l.e.Cycles = onOneClock(l.e)
	return err
}
