package web

import (
	"fmt"
	"math"
	"strings"

	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/units"
)

// mostPrograms bounds the programs whose samples are read: a build under a make
// runs thousands.
const mostPrograms = 64

// programs are those that were watched, with when and how much.
func (o *Overview) programs(r *recording.Reader, e *explain.Evidence) error {
	o.Programs = []Program{}
	for i, p := range e.Programs {
		if i == mostPrograms {
			o.Gaps = append(o.Gaps, Gap{What: "programs", Why: fmt.Sprintf("%d more are not shown", len(e.Programs)-i)})
			o.GapsAll++
			break
		}
		one := Program{PID: p.Key.PID, Name: p.Name, Args: strings.Join(p.Args[min(1, len(p.Args)):], " "), HeapProfile: string(p.HeapProfile),
			WhyNot: p.WhyNot, Subject: p.Key == e.Subject, End: endOf(e, p.Key)}
		if p.Go != nil {
			one.GoVersion = p.Go.Version
		}
		s, err := r.ProcessSamplesAbout(overviewSteps, p.Key, recording.ColAnonymous)
		if err != nil {
			return err
		}
		one.life(e, s)
		for _, then := range o.Answer.Program.Processes { // a moment may have seen more than every sample
			if then.PID == one.PID && one.Peak != nil && int64(then.Bytes) > *one.Peak {
				one.Peak = pointer(int64(then.Bytes))
			}
		}
		o.Programs = append(o.Programs, one)
	}
	return nil
}

// life is when the program was seen, and how large.
func (p *Program) life(e *explain.Evidence, s *recording.Series) {
	if s.Len() == 0 {
		return
	}
	since := float64(e.Start.UnixNano()) / 1e9
	p.From, p.To = pointer(float64(s.At[0])/1e9-since), pointer(float64(s.At[s.Len()-1])/1e9-since)
	for _, anon := range s.Column(recording.ColAnonymous) {
		if !math.IsNaN(anon) && (p.Peak == nil || int64(anon) > *p.Peak) {
			p.Peak = pointer(int64(anon))
		}
	}
}

func endOf(e *explain.Evidence, key sample.ProcessKey) string {
	for _, v := range e.Events {
		if v.Kind == sample.EventExit && v.Process == key {
			return v.Text
		}
	}
	return ""
}

// environment is where it ran and how.
func (o *Overview) environment(r *recording.Reader, e *explain.Evidence) error {
	m, err := r.Meta()
	if err != nil {
		return err
	}
	add := func(name, value string) {
		if value != "" && value != "0" {
			o.Environment = append(o.Environment, Setting{name, value})
		}
	}
	o.Environment = []Setting{}
	add("command", strings.Join(e.Command, " "))
	add("load", e.Load)
	add("ready", e.Ready)
	add("imported from", e.Imported)
	if m.Limit.OK {
		add("limit asked for", units.Limit(m.Limit.V))
	}
	for _, p := range e.Programs {
		if p.Key == e.Subject && p.Go != nil {
			add("module", strings.TrimSpace(p.Go.Module+" "+p.Go.ModuleVersion))
			add("revision", p.Go.Revision)
			add("build ID", p.Go.BuildID)
			add("build", buildOf(p.Go))
		}
	}
	add("host", m.Host)
	add("kernel", m.Kernel)
	add("CPUs", fmt.Sprint(m.CPUs))
	add("recorded by", strings.TrimSpace("highwater "+m.Tool))
	return nil
}

func buildOf(g *sample.GoProgram) string {
	list := append([]string{g.Version, g.Arch}, g.Experiments...)
	for name, is := range map[string]bool{"PIE": g.PIE, "cgo": g.CGO, "stripped": g.Stripped} {
		if is {
			list = append(list, name)
		}
	}
	return strings.Join(list, ", ")
}
