package report

import (
	"fmt"
	"io"

	"github.com/highwater-go/highwater/internal/measure/pacer"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/units"
)

// TuneText writes predictions for people, in at most 30 lines: settings beyond
// those that fit are left out, and said to be.
func TuneText(w io.Writer, a *pacer.Answer, o Options) error {
	var page []string
	for most := 12; most > 0; most-- {
		if page = composeTune(a, o, most); len(page) <= lines {
			break
		}
	}
	return write(w, page, o, nil)
}

// composeTune is a page with at most so many settings.
func composeTune(a *pacer.Answer, o Options, most int) []string {
	p := page{width: o.width()}
	p.tuneHead(a)
	if len(a.Settings) > 0 {
		p.tuneSettings(a, most)
		p.tuneAdvice(a)
	}
	p.add(o.Next)
	return p.lines
}

// tuneHead says what was recorded, and how far the rest is to be believed.
func (p *page) tuneHead(a *pacer.Answer) {
	verb := "confidence " + string(a.Grade)
	if a.Grade == pacer.Refused {
		verb = "no prediction"
	}
	p.titled(fmt.Sprintf("%s  peak heap %s, resident %s, %s", a.Program, units.Size(a.Recorded.PeakHeap),
		units.Size(a.Recorded.Resident), collections(a.Recorded.GCs)), verb)
	for i, why := range a.Why[:min(4, len(a.Why))] {
		head := "        "
		if i == 0 {
			head = "WHY     "
		}
		p.wrap(head, why)
	}
	if a.Grade == pacer.Refused {
		return
	}
	p.wrap("FLOOR   ", fmt.Sprintf("about %s resident: the live heap (%s) and memory that is not heap. No GOGC or GOMEMLIMIT can go lower", units.Size(a.Floor),
		units.Size(a.Live)))
	p.add("")
}

func (p *page) tuneSettings(a *pacer.Answer, most int) {
	limited := a.Settings[0].Limit != nil
	head := ""
	if limited {
		head = "under " + units.Limit(*a.Settings[0].Limit)
	}
	p.addf("%s%12s%22s%9s  %-15s%s", pad("SETTING", 26), "peak heap", "resident p50..p95", "GCs", "GC work", head)
	for i, s := range a.Settings {
		if i == most {
			p.addf("  %d more settings: --json", len(a.Settings)-i)
			break
		}
		p.tuneSetting(s)
	}
	p.add("")
}

func (p *page) tuneSetting(s pacer.Predicted) {
	name := settingName(s.GOGC, s.GOMEMLIMIT)
	switch {
	case s.GCAt != "":
		name = "GC at " + s.GCAt
	case s.Recorded:
		name += " (now)"
	}
	resident := units.Size(s.Resident.P50)
	if low, high := int64(s.Resident.P50)>>20, int64(s.Resident.P95)>>20; low != high {
		resident = fmt.Sprintf("%d..%d MiB", low, high)
	}
	work := fmt.Sprintf("%s, %.1fx", s.Cost, s.Times)
	gcs := fmt.Sprint(s.GCs)
	if s.Cost == pacer.CostSpiral {
		work, gcs = "SPIRAL", "-"
	}
	p.addf("  %s%12s%22s%9s  %-15s%s", pad(cut(name, 24), 24), units.Size(s.PeakHeap.P50), resident, gcs, work, survival(s))
}

func survival(s pacer.Predicted) string {
	switch {
	case s.Limit == nil:
		return ""
	case s.Thrash:
		return "may thrash"
	case s.Survives == pacer.Survives:
		return "survives"
	case s.Survives == pacer.Dies:
		return "killed"
	}
	return "uncertain"
}

// settingName is a setting as it is written in an environment.
func settingName(gogc *int32, limit *sample.Bytes) string {
	name := "GOGC=off"
	if gogc != nil {
		name = fmt.Sprintf("GOGC=%d", *gogc)
	}
	if limit == nil {
		return name
	}
	if gogc != nil && *gogc == 100 {
		return "GOMEMLIMIT=" + units.Env(*limit)
	}
	return name + " limit " + units.Env(*limit)
}

func (p *page) tuneAdvice(a *pacer.Answer) {
	if s := a.Smallest; s != nil {
		text := "smallest limit: " + units.Limit(s.AsIs) + " as it is"
		if s.Healthy > 0 {
			text += fmt.Sprintf("; %s with GOMEMLIMIT (%s at the edge of GC thrashing)", units.Limit(s.Healthy), units.Limit(s.Alive))
		}
		p.wrap("LIMIT   ", text)
	}
	r := a.Recommended
	if r == nil {
		p.wrap("NO FIX  ", "no GOMEMLIMIT for this limit: "+a.NotRecommended)
		return
	}
	fix := settingName(r.GOGC, &r.GOMEMLIMIT) + " for " + r.Because
	if r.GOMEMLIMIT == 0 {
		fix = fmt.Sprintf("a limit of %s, no GOMEMLIMIT, %s as it was: %s", units.Limit(r.Limit), settingName(r.GOGC, nil), r.Because)
	}
	p.wrap("FIX     ", fix)
	p.pasteLines(r)
	p.wrap("NOTE  ", "valid for this workload, Go version and CPU count. Run time is not predicted. GC work: bytes marked")
}

// pasteLines are a setting as it is written where it is needed.
func (p *page) pasteLines(r *pacer.Recommended) {
	for _, paste := range []struct{ where, text string }{{"Kubernetes", r.Kubernetes}, {"systemd", r.Systemd}, {"Docker", r.Docker}, {"shell", r.Shell}} {
		p.addf("  %-11s %s", paste.where, paste.text)
	}
}

func collections(n int) string {
	if n == 1 {
		return "1 GC"
	}
	return fmt.Sprintf("%d GCs", n)
}
