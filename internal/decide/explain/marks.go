package explain

import (
	"math"
	"sort"

	"github.com/highwater-go/highwater/internal/measure/latency"
)

// booked are samples of the collector: its phase, and what the runtime books once a
// collection, in nanoseconds.
type booked struct{ at, phase, dedicated, all, cycles []float64 }

// marks are when the collector marked. A sample in a phase of it lies within one.
// Its end is known to the microsecond, as the runtime writes it down; its beginning
// from the CPU time of the dedicated workers, which take a quarter of GOMAXPROCS
// (runtime/mgcpacer.go, gcBackgroundUtilization) and are booked at the end, as is
// the time that GOMAXPROCS processors had. It lies after the last sample that was
// in no phase.
func marks(e *Evidence, b booked) (out []latency.Stretch) {
	for i, phase := range b.phase {
		if phase > 0 {
			out = append(out, latency.Stretch{From: b.at[i], To: b.at[i]})
			if i > 0 && b.phase[i-1] > 0 {
				out[len(out)-1].From = b.at[i-1]
			}
		}
	}
	before := 0.0
	for _, g := range e.Cycles {
		end := e.seconds(g.At)
		if took := b.markTime(end, before); took > 0 {
			out = append(out, latency.Stretch{From: max(end-took, before, b.lastOff(end)), To: end})
		}
		before = end
	}
	return out
}

// markTime is how long the mark took that ended then, by what was booked between the
// samples around its end; 0 where that is not known. Several that ended between the
// two share it.
func (b booked) markTime(end, before float64) float64 {
	j := sort.SearchFloat64s(b.at, end)
	if j == 0 || j == len(b.at) || end <= before {
		return 0
	}
	rose := func(column []float64) float64 { return column[j] - column[j-1] }
	cycles, dedicated, all := rose(b.cycles), rose(b.dedicated)/1e9, rose(b.all)/1e9
	if math.IsNaN(dedicated+all) || cycles < 1 || all <= 0 {
		return 0
	}
	return min(end-before, 4*dedicated*(end-before)/all)
}

// lastOff is the last sample before an instant at which no collection ran.
func (b booked) lastOff(end float64) float64 {
	for i := sort.SearchFloat64s(b.at, end) - 1; i >= 0; i-- {
		if b.phase[i] == 0 {
			return b.at[i]
		}
	}
	return math.Inf(-1)
}
