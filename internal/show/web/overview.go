package web

import (
	"fmt"
	"time"

	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// Overview is what the page knows of a whole recording. Times are seconds since the
// start of the program, amounts bytes. No list is null.
type Overview struct {
	Schema  string          `json:"schema"`
	Name    string          `json:"name"`
	Typed   string          `json:"typed"` // the name in a command to type
	Answer  *explain.Answer `json:"answer"`
	Text    string          `json:"text"`     // of the answer, for those who cannot see the page
	Mark    string          `json:"markdown"` // of the answer, for a ticket
	Live    bool            `json:"live"`     // it is still being written
	Damage  string          `json:"damage"`   // what of it could not be read
	Start   string          `json:"start"`    // RFC 3339
	From    float64         `json:"from"`     // of the first sample
	Seconds float64         `json:"seconds"`  // of the last
	// Kill, Peak and Last are the moments to jump to; null: there is none.
	Kill *float64 `json:"kill"`
	Peak *float64 `json:"peak"`
	Last *float64 `json:"last"`
	// AfterEnd is from the end of the program until Highwater had read it and released it;
	// null: it was not kept.
	AfterEnd *[2]float64 `json:"after_end"`

	Moments     []Moment     `json:"moments"`
	MomentsAll  int          `json:"moments_all"` // that there are, listed or not
	Events      []Event      `json:"events"`
	EventsAll   int          `json:"events_all"`
	Gaps        []Gap        `json:"gaps"`
	GapsAll     int          `json:"gaps_all"`
	Holes       [][2]float64 `json:"holes"` // no sample was taken
	Cycles      []Cycle      `json:"cycles"`
	CyclesAll   int          `json:"cycles_all"` // that were seen, listed or not
	Programs    []Program    `json:"programs"`
	Environment []Setting    `json:"environment"`
	// About is what each fact of the answer is of, by its name: the samples behind it
	// are shown beside it.
	About map[string]string `json:"about"`
}

// Moment is one at which all was read.
type Moment struct {
	At    float64 `json:"at"`
	Kind  string  `json:"kind"`
	Bytes *int64  `json:"bytes"`
	PID   int     `json:"pid"` // of a death
}

// Event is one thing that happened.
type Event struct {
	At    float64 `json:"at"`
	Kind  string  `json:"kind"`
	PID   int     `json:"pid"`
	Value int64   `json:"value"`
	Text  string  `json:"text"`
}

// Gap is something that was not seen.
type Gap struct {
	From float64  `json:"from"`
	To   *float64 `json:"to"` // null: until the end
	PID  int      `json:"pid"`
	What string   `json:"what"`
	Why  string   `json:"why"`
}

// Cycle is one collection of the program that the answer is about.
type Cycle struct {
	At      float64 `json:"at"`
	N       uint32  `json:"n"`
	Missed  uint32  `json:"missed"`
	Trigger int64   `json:"trigger"`
	Marked  int64   `json:"marked"`
	Goal    int64   `json:"goal"`
	Pause   float64 `json:"pause"` // seconds
}

// Program is one that was watched.
type Program struct {
	PID         int      `json:"pid"`
	Name        string   `json:"name"`
	Args        string   `json:"args"`
	GoVersion   string   `json:"go_version"`
	HeapProfile string   `json:"heap_profile"`
	WhyNot      string   `json:"why_not"`
	From        *float64 `json:"from"`
	To          *float64 `json:"to"`
	Peak        *int64   `json:"peak"` // of its anonymous resident memory
	End         string   `json:"end"`  // how it ended
	Subject     bool     `json:"subject"`
}

// Setting is one thing to know of where it ran.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// mostCycles bounds the collections that a page is given, mostMoments the moments,
// and mostListed the events and gaps.
const (
	mostCycles  = 500
	mostMoments = 1000
	mostListed  = 1000
)

// Overview reads a recording as a whole.
func (b *Book) Overview() (o *Overview, err error) {
	err = b.main.read(b.opener(), b.Path, func(r *recording.Reader) error {
		o, err = once(&b.whole, "overview", func() (*Overview, bool, error) {
			o, err := b.overview(r)
			return o, err == nil && !o.Live, err
		})
		return err
	})
	return o, err
}

// until is where the course ends as it is drawn: a run of no length has a width.
func (o *Overview) until() float64 { return max(o.Seconds, o.From+0.001) }

func (b *Book) overview(r *recording.Reader) (*Overview, error) {
	e, err := b.load(r)
	if damage := r.Damage(); err != nil && damage != nil {
		return nil, fmt.Errorf("%w. No snapshot of the program's memory could be read", damage)
	}
	if err != nil {
		return nil, err
	}
	a, err := b.Answer(e)
	if err != nil {
		return nil, err
	}
	o := &Overview{Schema: Schema, Name: b.Name, Typed: b.Typed, Answer: a, Live: r.Live(), Start: e.Start.UTC().Format(time.RFC3339Nano),
		Seconds: e.Seconds(e.End), Holes: e.Holes(), Moments: []Moment{}, Events: []Event{}, Gaps: []Gap{}, Cycles: []Cycle{}, CyclesAll: len(e.Cycles),
		About: map[string]string{}}
	for _, f := range a.Evidence {
		o.About[f.ID] = f.About
	}
	if len(e.Ticks.At) > 0 {
		o.From = min(0, e.Ticks.At[0])
	}
	if o.Text, err = b.Text(a); err != nil {
		return nil, err
	}
	if o.Mark, err = b.Markdown(a); err != nil {
		return nil, err
	}
	if err := o.moments(r, b.Path, e); err != nil {
		return nil, err
	}
	o.story(e)
	o.AfterEnd = afterEnd(e, o.Moments)
	if err := o.programs(r, e); err != nil {
		return nil, err
	}
	if err := o.environment(r, e); err != nil {
		return nil, err
	}
	if err := r.Damage(); err != nil {
		o.Damage = err.Error()
		o.Holes = append(o.Holes, unsampledEnd(e)...)
	}
	if b.Redact {
		o.redact()
	}
	return o, nil
}

// moments lists them, and finds those with a name.
func (o *Overview) moments(r *recording.Reader, path string, e *explain.Evidence) error {
	list, err := r.Moments()
	if err != nil {
		return err
	}
	o.MomentsAll = len(list)
	for _, m := range sampleEvenly(list) {
		one := Moment{At: e.Seconds(m.At), Kind: string(m.Kind)}
		if m.Usage.OK {
			one.Bytes = pointer(int64(m.Usage.V))
		}
		if m.Kind == sample.MomentDeath && len(m.Processes) > 0 {
			one.PID = m.Processes[0].Key.PID
		}
		o.Moments = append(o.Moments, one)
	}
	for name, at := range map[string]**float64{"kill": &o.Kill, "peak": &o.Peak, "last": &o.Last} {
		if name == "kill" && o.Answer.Outcome.State != explain.Killed {
			continue
		}
		if when, err := explain.MomentAt(r, name); err == nil {
			*at = pointer(e.Seconds(when))
		}
	}
	return nil
}

// sampleEvenly is the moments that are listed: all, or of very many evenly some, with
// the greatest and the last.
func sampleEvenly(list []recording.MomentInfo) (out []recording.MomentInfo) {
	step := max(1, (len(list)+mostMoments-1)/mostMoments)
	top := 0
	for i, m := range list {
		if m.Usage.OK && m.Usage.V > list[top].Usage.V {
			top = i
		}
	}
	for i, m := range list {
		if i%step == 0 || i == top || i == len(list)-1 {
			out = append(out, m)
		}
	}
	return out
}

// story is what happened and what was not seen.
func (o *Overview) story(e *explain.Evidence) {
	o.EventsAll, o.GapsAll = len(e.Events), len(e.Gaps)
	for _, v := range e.Events[:min(len(e.Events), mostListed)] {
		o.Events = append(o.Events, Event{e.Seconds(v.At), string(v.Kind), v.Process.PID, v.Value, v.Text})
	}
	for _, g := range e.Gaps[:min(len(e.Gaps), mostListed)] {
		one := Gap{From: e.Seconds(g.From), PID: g.Process.PID, What: g.What, Why: g.Why}
		if g.From.IsZero() {
			one.From = 0
		}
		if !g.To.IsZero() {
			one.To = pointer(e.Seconds(g.To))
		}
		o.Gaps = append(o.Gaps, one)
	}
	step := max(1, (len(e.Cycles)+mostCycles-1)/mostCycles)
	for i := len(e.Cycles) - 1; i >= 0; i -= step { // the last one, which matters most, is among them
		c := e.Cycles[i]
		o.Cycles = append(o.Cycles, Cycle{e.Seconds(c.At), c.N, c.Missed, int64(c.Trigger), int64(c.Marked), int64(c.Goal), c.Pause.Seconds()})
	}
}

func pointer[T any](v T) *T { return &v }

// afterEnd is how long the program was kept after it had ended: its pages stay in the
// memory usage for that time.
func afterEnd(e *explain.Evidence, moments []Moment) *[2]float64 {
	for _, m := range moments {
		if m.Kind != string(sample.MomentDeath) || m.PID != e.Subject.PID {
			continue
		}
		if at, held := e.Released[e.Subject]; held && e.Seconds(at) > m.At {
			return &[2]float64{m.At, e.Seconds(at)}
		}
	}
	return nil
}

// unsampledEnd is the time from the last sample of a damaged recording to its end, where that is
// long: its events may be there without the samples.
func unsampledEnd(e *explain.Evidence) [][2]float64 {
	const least = 3 // seconds
	last, end := 0.0, e.Seconds(e.End)
	if n := len(e.Ticks.At); n > 0 {
		last = e.Ticks.At[n-1]
	}
	if end-last < least {
		return nil
	}
	return [][2]float64{{last, end}}
}
