package fleet

import (
	"encoding/json"
	"time"

	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// NearLimit is the part of its limit from which on a program's recording is worth keeping
// when its agent ends: it may die before the next one watches it.
const NearLimit = 0.8

// closeToLimit is the part of its limit that a program has come to whose peak is an
// incident, though nothing was killed.
const closeToLimit = 0.95

// IncidentOf is what an answer is to the fleet; ok is false where there is nothing that
// anybody would want to know: a program that ended by itself, or runs, far from its limit.
func IncidentOf(a *explain.Answer) (in Incident, ok bool) {
	kind, ok := kindOfAnswer(a)
	if !ok {
		return in, false
	}
	in = Incident{Kind: kind, Class: string(a.Verdict.Class), Confidence: string(a.Verdict.Confidence), Fingerprint: a.Verdict.Full,
		Sentence: a.Outcome.Sentence, Cause: a.Verdict.Sentence, Limit: amount(a.Outcome.LimitBytes), Peak: amount(a.Outcome.PeakBytes), Ledger: ledger(a.Ledger)}
	if at, err := time.Parse(time.RFC3339Nano, a.Outcome.At); err == nil {
		in.At = at
	}
	if c := a.Verdict.Culprit; c != nil {
		in.Function, in.File, in.Line = c.Function, explain.ShortFile(c.File), uint32(max(0, c.Line))
	} else if a.Verdict.Class == explain.Inconclusive {
		in.TellMost(a)
	}
	if c := a.Crash; c != nil && kind == KindCrash {
		in.Function, in.File, in.Line = c.Function, explain.ShortFile(c.File), uint32(max(0, c.Line))
	}
	return in, true
}

// TellMost adds the line that allocated more than half of the heap, where one of the program's code did: that is known
// also where the cause is not.
func (in *Incident) TellMost(a *explain.Answer) {
	for _, h := range a.Holders {
		if h.OwnCode && h.Bytes > a.Sampling.TotalBytes/2 {
			in.Function, in.File, in.Line = h.Function, explain.ShortFile(h.File), uint32(max(0, h.Line))
			in.Cause += " Most of the heap was allocated at " + in.Where() + "."
			return
		}
	}
}

func kindOfAnswer(a *explain.Answer) (kind string, ok bool) {
	switch o := a.Outcome; {
	case o.Kernel, o.State == explain.Killed && (o.By == explain.ByCgroup || o.By == explain.ByParent || o.By == explain.ByNode):
		return KindKill, true
	case a.Crash != nil:
		return KindCrash, true
	case o.LimitBytes != nil && o.PeakBytes != nil && float64(*o.PeakBytes) >= closeToLimit*float64(*o.LimitBytes):
		return KindPeak, true
	}
	return "", false
}

// Died is the incident of a death whose recording could not be explained.
func Died(at time.Time, sentence string) Incident {
	return Incident{At: at, Kind: KindKill, Class: Unread, Sentence: sentence}
}

func amount(b *sample.Bytes) sample.Opt[uint64] {
	if b == nil {
		return sample.Opt[uint64]{}
	}
	return sample.Some(uint64(*b))
}

// ledger is the rows as JSON, bytes by name.
func ledger(l explain.Ledger) string {
	rows := map[string]int64{"total": int64(l.TotalBytes), "unexplained": l.UnexplainedBytes}
	for _, r := range l.Rows {
		rows[r.Name] = int64(r.Bytes)
	}
	b, err := json.Marshal(rows)
	if err != nil {
		return "{}"
	}
	return string(b)
}
