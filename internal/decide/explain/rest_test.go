package explain

import (
	"math"
	"testing"
)

// atRest is a course as a watch takes it: a second apart where nothing of it has moved for
// three seconds, instead of ten times a second.
func atRest(t Ticks) (out Ticks) {
	moved := t.At[0]
	for i, at := range t.At {
		if i > 0 && (math.Abs(t.Usage[i]-t.Usage[i-1]) > 512<<10 || t.Goroutines[i] != t.Goroutines[i-1]) {
			moved = at
			if last := out.At[len(out.At)-1]; last < t.At[i-1] { // the look before it
				out = out.with(t, i-1)
			}
		}
		onGrid := math.Abs(at-math.Round(at)) < 0.01
		if at-moved < 3 || onGrid {
			out = out.with(t, i)
		}
	}
	return out
}

func (t Ticks) with(from Ticks, i int) Ticks {
	t.At, t.Usage, t.PageCache, t.Anon = append(t.At, from.At[i]), append(t.Usage, from.Usage[i]), append(t.PageCache, from.PageCache[i]),
		append(t.Anon, from.Anon[i])
	t.HeapLive, t.HeapAlloc, t.Native = append(t.HeapLive, from.HeapLive[i]), append(t.HeapAlloc, from.HeapAlloc[i]), append(t.Native, from.Native[i])
	t.Goroutines, t.Available = append(t.Goroutines, from.Goroutines[i]), append(t.Available, from.Available[i])
	t.Alloc, t.CPU, t.GC = append(t.Alloc, from.Alloc[i]), append(t.CPU, from.CPU[i]), append(t.GC, from.GC[i])
	return t
}

// burstsAtRest is a server that rests, and works for four seconds of each minute, over ten;
// its native memory and its goroutines come with the work.
func burstsAtRest(grows float64) Ticks {
	var t Ticks
	for i := range 6000 {
		at := float64(i) / 10
		phase := math.Mod(at, 60)
		busy := 0.0
		if phase >= 50 && phase < 54 {
			busy = math.Sin((phase - 50) / 4 * math.Pi)
		}
		use := (50 + grows*math.Floor(at/60) + 80*busy) * float64(mib)
		t.At, t.Usage, t.PageCache, t.Anon = append(t.At, at), append(t.Usage, use+5*float64(mib)), append(t.PageCache, 5*float64(mib)), append(t.Anon, use)
		t.HeapLive, t.HeapAlloc, t.Native = append(t.HeapLive, use*0.7), append(t.HeapAlloc, use*0.8), append(t.Native, use*0.1)
		t.Goroutines, t.Available = append(t.Goroutines, math.Round(12+50*busy)), append(t.Available, 8e9)
		work := math.Floor(at/60)*4 + max(0, min(4, phase-50))
		t.Alloc, t.CPU, t.GC = append(t.Alloc, work*float64(100*mib)), append(t.CPU, work), append(t.GC, work/10)
	}
	return t
}

// What is measured of a run does not depend on how often a rest was looked at.
func TestARestIsJudgedAsIfItHadBeenLookedAtAllAlong(t *testing.T) {
	for name, grows := range map[string]float64{"comes back": 0, "grows": 6} {
		often := newScene()
		often.over(600e9, 20)
		often.Ticks = burstsAtRest(grows)
		seldom := newScene()
		seldom.over(600e9, 20)
		seldom.Ticks = atRest(often.Ticks)
		if n := len(seldom.Ticks.At); n > 2000 {
			t.Fatalf("%d of %d samples: nothing rests in it", n, len(often.Ticks.At))
		}
		a, b := newCase(often.Evidence), newCase(seldom.Evidence)
		if h := seldom.Holes(); len(h) != 0 {
			t.Errorf("%s: a rest is told as holes: %v", name, h)
		}
		fa, fb := a.measureAll(), b.measureAll()
		for _, m := range measures {
			x, y := fa[m.name], fb[m.name]
			if x.Missing != y.Missing || math.Abs(x.Value-y.Value) > 0.03*max(math.Abs(x.Value), math.Abs(y.Value)) {
				t.Errorf("%s: %s is %v %s looked at often, %v %s at rest", name, m.name, x.Value, x.Missing, y.Value, y.Missing)
			}
		}
		p, q := a.footprint(), b.footprint()
		for share, pair := range map[string][2]float64{"50": {float64(p.P50), float64(q.P50)}, "95": {float64(p.P95), float64(q.P95)},
			"99": {float64(*p.P99), float64(*q.P99)}} {
			if math.Abs(pair[0]-pair[1]) > 0.02*pair[0] {
				t.Errorf("%s: for %s %% of the time memory was at most %v looked at often, %v at rest", name, share, pair[0], pair[1])
			}
		}
		if x, y := a.growth(), b.growth(); (x == nil) != (y == nil) || x != nil && math.Abs(x.PerHour-y.PerHour) > 0.05*math.Abs(x.PerHour)+1e6 {
			t.Errorf("%s: growth %+v looked at often, %+v at rest", name, x, y)
		}
	}
}

// A rest that was thinned tells by its counts that it was looked at, and a hole does not.
func TestARestOfALongRecordingIsNoHole(t *testing.T) {
	s := newScene()
	s.Ticks = Ticks{Picked: true}
	for i := range 100 {
		at := float64(i)
		if i >= 60 {
			at += 300
		}
		if i >= 80 {
			at += 400
		}
		s.Ticks.At = append(s.Ticks.At, at)
		s.Ticks.Unchanged = append(s.Ticks.Unchanged, math.NaN())
	}
	s.Ticks.Unchanged[60] = 9
	if h := s.Holes(); len(h) != 1 || h[0] != [2]float64{379, 780} {
		t.Errorf("holes %v, want the one at 379 s", h)
	}
}
