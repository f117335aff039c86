package explain

import (
	"math"
	"slices"
	"time"

	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
)

func (l *loader) ticks() error {
	if err := l.bound(); err != nil {
		return err
	}
	s, err := l.SamplesAbout(l.rows, recording.ColUsage, recording.ColPeak, recording.ColPageCache, recording.ColShmem, recording.ColHostAvailable,
		recording.ColEventsMax, recording.ColMajorFaults, recording.ColRefaults, recording.ColPressureFullTotal, recording.ColUnchanged)
	if err != nil {
		return err
	}
	t := &l.e.Ticks
	start := l.e.Start.UnixNano()
	for _, at := range s.At {
		t.At = append(t.At, float64(at-start)/1e9)
	}
	t.Usage, t.PageCache, t.Shmem, t.Available = s.Column(recording.ColUsage), s.Column(recording.ColPageCache), s.Column(recording.ColShmem),
		s.Column(recording.ColHostAvailable)
	t.AtLimit, t.Faults, t.Refaults = s.Column(recording.ColEventsMax), s.Column(recording.ColMajorFaults), s.Column(recording.ColRefaults)
	t.Unchanged, t.Picked = s.Column(recording.ColUnchanged), l.rows < mostRows
	t.Stalled = inSeconds(s.Column(recording.ColPressureFullTotal))
	if n := s.Len(); n > 0 {
		if last := time.Unix(0, s.At[n-1]); last.After(l.e.End) {
			l.e.End = last
		}
		l.e.Peak = risen(s.Column(recording.ColPeak))
	}
	return l.processTicks(s.At)
}

// risen is the last value of the kernel's mark of the greatest charge where it
// is above the first: else it was reached before the recording.
func risen(peak []float64) sample.Opt[sample.Bytes] {
	first, ok := firstSeen(peak)
	last, _ := greatest(peak)
	if !ok || float64(last) <= first {
		return sample.Opt[sample.Bytes]{}
	}
	return sample.Some(last)
}

// processTicks puts the subject's samples beside the cgroup's, and sums the
// anonymous memory of all processes.
func (l *loader) processTicks(ats []int64) error {
	t := &l.e.Ticks
	for _, column := range []*[]float64{&t.Anon, &t.HeapLive, &t.HeapAlloc, &t.Native, &t.Goroutines, &t.Alloc, &t.CPU, &t.GC} {
		*column = allNaN(len(ats))
	}
	l.e.Spans = map[sample.ProcessKey]Span{}
	var err error
	all := make(map[sample.ProcessKey]*recording.Series)
	if slices.ContainsFunc(l.e.Programs, func(p sample.Program) bool { return p.Key != l.e.Subject }) {
		if all, err = l.ResidentAbout(l.rows); err != nil {
			return err
		}
	}
	if all[l.e.Subject], err = l.ProcessSamplesAbout(l.rows, l.e.Subject, subjectColumns...); err != nil {
		return err
	}
	for key, s := range all {
		l.align(ats, s, key == l.e.Subject)
		l.span(key, s)
	}
	return nil
}

// span notes how steady a process was in the last half of its life to the moment.
func (l *loader) span(key sample.ProcessKey, s *recording.Series) {
	n, _ := slices.BinarySearch(s.At, l.e.Moment.At.UnixNano()+1)
	if n == 0 {
		return
	}
	middle := s.At[0] + (s.At[n-1]-s.At[0])/2
	span := Span{Seconds: float64(s.At[n-1]-middle) / 1e9}
	low, high := math.Inf(1), 0.0
	for i := range n {
		if anon := s.Column(recording.ColAnonymous)[i]; s.At[i] >= middle && !math.IsNaN(anon) {
			low, high = min(low, anon), max(high, anon)
		}
	}
	if high > 0 {
		span.Low, span.High, span.CPU = sample.Bytes(max(0, low)), sample.Bytes(high), cpuTime(s)
		l.e.Spans[key] = span
	}
}

// cpuTime is the seconds of CPU time between the first and the last sample of a process that have it: what it was seen
// to use at least.
func cpuTime(s *recording.Series) float64 {
	first, last := math.NaN(), math.NaN()
	system := s.Column(recording.ColSystemTime)
	for i, user := range s.Column(recording.ColUserTime) {
		if now := user + system[i]; !math.IsNaN(now) {
			if last = now; math.IsNaN(first) {
				first = now
			}
		}
	}
	if math.IsNaN(first) {
		return 0
	}
	return max(0, last-first) / 1e9
}

// mostRows bounds how many samples and collections are read: an hour of ten a second
// has no more. Of what is longer, rows are picked that each lie on a page of the file
// of their own, which a disk finds one by one: fewer of them tell as well where a
// line through its growth goes.
const (
	mostRows   = 40_000
	mostPicked = 12_000
)

// bound says how many rows to read.
func (l *loader) bound() error {
	ticks, err := l.Ticks()
	if l.rows = mostRows; ticks > mostRows {
		l.rows = mostPicked
	}
	return err
}

// align adds the samples of one process to the columns; both are in the order of
// time. Of a long recording other rows may have been read of one than of the
// other: then a sample counts for the nearest tick before it.
func (l *loader) align(ats []int64, s *recording.Series, subject bool) {
	t := &l.e.Ticks
	anonymous := s.Column(recording.ColAnonymous)
	apart := int64(0)
	if l.rows < mostRows && len(ats) > 0 {
		apart = 2 * (ats[len(ats)-1] - ats[0]) / int64(len(ats))
	}
	heapOf := func(i, j int) {}
	if subject {
		heapOf = t.heapColumns(s)
	}
	i, filled := 0, -1
	for j, at := range s.At {
		for i+1 < len(ats) && ats[i+1] <= at {
			i++
		}
		if len(ats) == 0 || ats[i] > at || at-ats[i] > apart || i == filled {
			continue
		}
		filled = i
		if anon := anonymous[j]; !math.IsNaN(anon) {
			if math.IsNaN(t.Anon[i]) {
				t.Anon[i] = 0
			}
			t.Anon[i] += anon
		}
		heapOf(i, j)
	}
}

// heapColumns fills in what is the subject's alone, of tick i from sample j.
func (t *Ticks) heapColumns(s *recording.Series) func(i, j int) {
	anon, ready := s.Column(recording.ColAnonymous), s.Column(recording.ColMappedReady)
	live, goroutines := s.Column(recording.ColHeapLive), s.Column(recording.ColGoroutines)
	alloc, free := s.Column(recording.ColTotalAlloc), s.Column(recording.ColTotalFree)
	user, system := s.Column(recording.ColUserTime), s.Column(recording.ColSystemTime)
	assist, dedicated, pause := s.Column(recording.ColGCAssistTime), s.Column(recording.ColGCDedicatedTime), s.Column(recording.ColGCPauseTime)
	return func(i, j int) {
		t.HeapLive[i], t.Goroutines[i] = live[j], goroutines[j]
		t.HeapAlloc[i], t.Alloc[i] = alloc[j]-free[j], alloc[j]
		t.Native[i] = max(0, anon[j]-ready[j])
		t.CPU[i] = (user[j] + system[j]) / 1e9
		t.GC[i] = (assist[j] + dedicated[j] + pause[j]) / 1e9
	}
}

// subjectColumns are what of process_sample the subject is asked for.
var subjectColumns = []recording.Column{recording.ColAnonymous, recording.ColHeapLive, recording.ColTotalAlloc, recording.ColTotalFree,
	recording.ColMappedReady, recording.ColGoroutines,
	recording.ColUserTime, recording.ColSystemTime, recording.ColGCAssistTime, recording.ColGCDedicatedTime, recording.ColGCPauseTime}

// inSeconds makes seconds of nanoseconds, in place.
func inSeconds(column []float64) []float64 {
	for i := range column {
		column[i] /= 1e9
	}
	return column
}

func allNaN(n int) []float64 {
	column := make([]float64, n)
	for i := range column {
		column[i] = math.NaN()
	}
	return column
}

// untilMoment is what was seen of a column up to the moment.
func (c *Case) untilMoment(column []float64) (at, v []float64) {
	return c.until(c.seconds(c.Moment.At), column)
}

// until is what a column has up to an instant, without what is not known.
func (c *Case) until(end float64, column []float64) (at, v []float64) {
	for i, x := range column {
		if c.Ticks.At[i] <= end && !math.IsNaN(x) {
			at, v = append(at, c.Ticks.At[i]), append(v, x)
		}
	}
	return at, v
}

// nearestTo is the index of the first instant not before when.
func nearestTo(at []float64, when float64) int {
	for i, t := range at {
		if t >= when {
			return i
		}
	}
	return len(at) - 1
}
