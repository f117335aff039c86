package pacer

import (
	"fmt"
	"strings"

	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/units"
)

// advise finds the setting for the limit, and the smallest limits.
func (t *tuner) advise(a *Answer) {
	a.Smallest = &Smallest{AsIs: t.whole((float64(t.now.anon.P95) + t.h.rest) * safetyMargin)}
	a.Smallest.Healthy = t.smallest(t.fitsWell)
	a.Smallest.Alive = t.smallest(func(p prediction, limit float64) bool {
		return float64(p.anon.P95)+t.h.rest <= limit
	})
	if asIs := a.Smallest.AsIs; BetterAsIs(asIs, a.Smallest.Healthy) {
		a.Recommended = t.asItIs(asIs, a.Smallest.Healthy)
		return
	}
	limit := t.limit
	if limit == 0 {
		limit = float64(a.Smallest.Healthy)
	}
	set, p := t.forLimit(limit)
	o := (&Predictor{t: t}).judged(Outlook{GOMEMLIMIT: sample.Bytes(set.Limit), Limit: sample.Bytes(limit)}, p)
	if o.Chance != Fits {
		a.NotRecommended = o.Why
		return
	}
	a.Recommended = t.recommended(set, limit)
}

// muchLess is the part of the limit with GOMEMLIMIT below which the one without is
// recommended. Nearer than that a heap that is held is worth more.
const muchLess = 0.8

// BetterAsIs decides between the smallest limit without a GOMEMLIMIT and the one with
// it; 0: there is none. A program that writes to little of its heap, or whose garbage
// is few large objects, needs less without: Go counts what it mapped, the kernel what
// was written.
func BetterAsIs(asIs, limited sample.Bytes) bool {
	return asIs > 0 && (limited == 0 || float64(asIs) < muchLess*float64(limited))
}

// asItIs recommends the recorded setting, nil under a limit that is too small for it.
func (t *tuner) asItIs(smallest, limited sample.Bytes) *Recommended {
	limit := smallest
	if t.limit > 0 {
		limit = sample.Bytes(t.limit)
	}
	if smallest > limit {
		return nil
	}
	r := Recommend(t.h.Setting, limit, t.h.Program.Exe)
	r.Because = fmt.Sprintf("it needs %s as it is, and ", units.Limit(smallest))
	switch {
	case limited == 0:
		r.Because += "with no GOMEMLIMIT less"
	case t.m.sparse():
		r.Because += units.Limit(limited) + " with a GOMEMLIMIT, which counts what was never written, too"
	default:
		r.Because += units.Limit(limited) + " with a GOMEMLIMIT"
	}
	return r
}

// whole rounds a limit up to whole MiB.
func (t *tuner) whole(bytes float64) sample.Bytes {
	return (sample.Bytes(bytes) + sample.MiB - 1) / sample.MiB * sample.MiB
}

// healthy reports whether collections seldom run back to back, and the collector does less than twice the work, or
// little of it.
func (t *tuner) healthy(p prediction) bool {
	return p.close < 0.2 && (t.times(p) < 2 || t.cost(p) == CostLow)
}

// held is the part of a limit that is left to the unforeseen, at least 4 MiB.
const held = 0.03

// MemoryLimitFor is the GOMEMLIMIT for a limit: what is left of it when what Go does not
// count, and a little, is taken off; rounded as units.Env prints it. 0: nothing is left.
func MemoryLimitFor(limit, nonGo sample.Bytes) sample.Bytes {
	spare := max(sample.Bytes(held*float64(limit)), 4*sample.MiB)
	room := limit.Sub(nonGo + spare)
	if room < 16*sample.MiB {
		return room / sample.KiB * sample.KiB
	}
	return room / sample.MiB * sample.MiB
}

// forLimit is the greatest GOMEMLIMIT with which the run fits a limit: the limit
// less what Go does not count, lowered until what marks allocate fits too. Where that
// does not help it is the greatest.
func (t *tuner) forLimit(limit float64) (Setting, prediction) {
	set := Setting{GOGC: t.h.Setting.GOGC, Limit: max(int64(MemoryLimitFor(sample.Bytes(limit), sample.Bytes(t.nonGo()))), int64(sample.MiB))}
	first := t.m.predict(set, t.h.forced)
	for p, tries := first, 0; tries < 6; tries++ {
		over := (float64(p.anon.P95)+t.h.rest)*safetyMargin - limit
		if over <= 0 {
			return set, p
		}
		set.Limit -= int64(max(over, 2*mib)) >> 20 << 20
		if set.Limit < int64(sample.MiB) || p.spiral {
			break
		}
		p = t.m.predict(set, t.h.forced)
	}
	return Setting{set.GOGC, first.set.Limit}, first
}

// smallest bisects for the least limit that is good with its GOMEMLIMIT, to 1 %;
// 0 where none up to twice what the recorded setting needs is.
func (t *tuner) smallest(good func(prediction, float64) bool) sample.Bytes {
	low, high := t.h.rest, 2*(float64(t.now.anon.P95)+t.h.rest)*safetyMargin
	holds := func(limit float64) bool {
		_, p := t.forLimit(limit)
		return good(p, limit)
	}
	if !holds(high) {
		return 0
	}
	for high-low > max(high/100, mib) {
		if middle := (low + high) / 2; holds(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return t.whole(high)
}

func (t *tuner) recommended(set Setting, limit float64) *Recommended {
	r := Recommend(set, sample.Bytes(limit), t.h.Program.Exe)
	r.Because = fmt.Sprintf("%s limit - %s that Go does not count - %s to spare", units.Limit(r.Limit), units.Size(int64(t.nonGo())),
		units.Size(int64(limit-t.nonGo())-set.Limit))
	return r
}

// Recommend is a setting for a limit with the lines to paste; what it is because of is
// for the caller to say. A setting without a limit has no GOMEMLIMIT in them.
func Recommend(set Setting, limit sample.Bytes, exe string) *Recommended {
	r := &Recommended{GOGC: gogcOf(set), Limit: limit}
	mb, env := units.Env(limit), ""
	if set.limited() {
		r.GOMEMLIMIT, env = sample.Bytes(set.Limit), units.Env(set.Limit)
	}
	r.Kubernetes = inPod(mb, env)
	r.Systemd, r.Docker, r.Shell = "MemoryMax="+mb[:len(mb)-2], "docker run --memory "+strings.ToLower(mb[:len(mb)-2]), exe
	if env != "" {
		r.Systemd += " Environment=GOMEMLIMIT=" + env
		r.Docker += " -e GOMEMLIMIT=" + env
		r.Shell = "GOMEMLIMIT=" + env + " " + exe
	}
	return r
}

// inPod is a limit, and a GOMEMLIMIT that is not "", as a container of a pod has them. The downward API hands on a limit or a
// request as it is, and cannot take a part of one. GOMEMLIMIT is less than the limit, so it is the request: memory that the
// program may use by design. Changed there, it changes in both.
func inPod(limit, gomemlimit string) string {
	quantity := func(size string) string { return strings.TrimSuffix(size, "B") }
	if gomemlimit == "" {
		return fmt.Sprintf(`resources: {limits: {memory: %s}}`, quantity(limit))
	}
	return fmt.Sprintf(`resources: {requests: {memory: %s}, limits: {memory: %s}}, env: [{name: GOMEMLIMIT, valueFrom: {resourceFieldRef: {resource: requests.memory}}}]`,
		quantity(gomemlimit), quantity(limit))
}
