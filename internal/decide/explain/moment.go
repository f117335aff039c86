package explain

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// ErrNoMoment says that a recording holds no moment to look at.
var ErrNoMoment = errors.New("the recording has no snapshot of the program's memory")

// ErrAt says that a moment was asked for in a way, or by a name, that the
// recording does not have.
var ErrAt = errors.New("unknown moment")

// atError is an ErrAt that says why on its own.
type atError struct{ error }

func (atError) Is(target error) bool { return target == ErrAt }

// chooseMoment finds the moment that at names: "kill", "peak", "last", a
// duration since the start ("90s"), a time of day ("14:31:07") or a time in RFC
// 3339; "" is the kill if the kernel killed, else the peak. It returns its index
// and the name to show.
func chooseMoment(list []recording.MomentInfo, at string, killed bool, start time.Time) (int, string, error) {
	if len(list) == 0 {
		return 0, "", ErrNoMoment
	}
	switch at {
	case "":
		if i, ok := killMoment(list); ok && killed {
			return i, "kill", nil
		}
		return peakMoment(list), "peak", nil
	case "kill":
		if i, ok := killMoment(list); ok {
			return i, "kill", nil
		}
		return 0, "", atError{errors.New("the recording has no full reading at a kill; --at last is the latest reading")}
	case "peak":
		return peakMoment(list), "peak", nil
	case "last":
		return len(list) - 1, "last", nil
	}
	when, err := timeOf(at, start)
	if err != nil {
		return 0, "", atError{err}
	}
	return nearest(list, func(m recording.MomentInfo) time.Time { return m.At }, when), "time", nil
}

// killMoment is the death by SIGKILL at the highest charge: of several that die
// together, the first still has all of it.
func killMoment(list []recording.MomentInfo) (int, bool) {
	best, found := 0, false
	for i, m := range list {
		if m.Kind != sample.MomentDeath || len(m.Processes) == 0 || m.Processes[0].Signal != 9 {
			continue
		}
		if !found || m.Usage.V > list[best].Usage.V {
			best, found = i, true
		}
	}
	return best, found
}

// needOf is what of the charge cannot be reclaimed at a moment.
func needOf(m recording.MomentInfo) sample.Bytes { return m.Usage.V.Sub(m.PageCache.V) }

// peakMoment is the moment of the most memory that cannot be reclaimed; where no charge was read, that of the
// most anonymous memory, the last new maximum, else the last moment. A program that has ended by itself holds
// nothing any more, though its memory is still there: within a fiftieth of the
// most, a moment of its life comes before that of its end, and both before
// one that lacks a process.
func peakMoment(list []recording.MomentInfo) int {
	most := sample.Bytes(0)
	for _, m := range list {
		most = max(most, needOf(m))
	}
	best, worth := -1, 0
	for i, m := range list {
		if !m.Usage.OK {
			continue
		}
		w := 0
		if needOf(m) >= most-most/50 {
			w = worthOf(list, i)
		}
		if best < 0 || w > worth || w == worth && needOf(m) > needOf(list[best]) {
			best, worth = i, w
		}
	}
	if best >= 0 {
		return best
	}
	if i, ok := peakOfProcesses(list); ok {
		return i
	}
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].Kind == sample.MomentMax {
			return i
		}
	}
	return len(list) - 1
}

// peakOfProcesses is the moment at which the processes themselves had most memory, where no charge of theirs alone is
// known: the last of those within a tenth of the most. What comes and goes has many peaks, and the more came
// before the moment the more is known of it.
func peakOfProcesses(list []recording.MomentInfo) (at int, ok bool) {
	most := sample.Bytes(0)
	for _, m := range list {
		most = max(most, anonOfAll(m))
	}
	for i := len(list) - 1; i >= 0; i-- {
		if n := anonOfAll(list[i]); n > 0 && n >= most-most/10 && !lacks(list, i) && !ended(list[i]) {
			return i, true
		}
	}
	return 0, false
}

// anonOfAll is the anonymous memory of a moment's processes, 0 where that of none was read.
func anonOfAll(m recording.MomentInfo) (sum sample.Bytes) {
	for _, p := range m.Processes {
		sum += p.Anon.V
	}
	return sum
}

// worthOf ranks moments near the highest charge by what they can tell.
func worthOf(list []recording.MomentInfo, i int) int {
	switch {
	case lacks(list, i):
		return 1
	case ended(list[i]):
		return 2
	}
	return 3
}

// lacks reports whether a process ended while the moment was taken, and is not in it, though moments beside it hold it,
// of before and of no earlier time.
func lacks(list []recording.MomentInfo, i int) bool {
	before := map[sample.ProcessKey]bool{}
	beside := list[max(0, i-4):min(len(list), i+5)]
	for _, m := range beside {
		for _, p := range m.Processes {
			if m.At.Before(list[i].At) {
				before[p.Key] = true
			}
		}
	}
	for _, p := range list[i].Processes {
		delete(before, p.Key)
	}
	return slices.ContainsFunc(beside, func(m recording.MomentInfo) bool {
		return !m.At.Before(list[i].At) && slices.ContainsFunc(m.Processes, func(p recording.ProcessMomentInfo) bool { return before[p.Key] })
	})
}

// ended reports whether the moment is of a process that ended without a signal.
func ended(m recording.MomentInfo) bool {
	return m.Kind == sample.MomentDeath && len(m.Processes) > 0 && m.Processes[0].Signal == 0
}

// timeOf reads a moment's time as people write it.
func timeOf(at string, start time.Time) (time.Time, error) {
	if d, err := time.ParseDuration(at); err == nil {
		return start.Add(d), nil
	}
	if t, err := time.Parse(time.RFC3339, at); err == nil {
		return t, nil
	}
	for _, layout := range []string{"15:04:05", "15:04"} {
		if t, err := time.Parse(layout, at); err == nil {
			local := start.Local()
			when := time.Date(local.Year(), local.Month(), local.Day(), t.Hour(), t.Minute(), t.Second(), 0, time.Local)
			if when.Before(start.Add(-time.Minute)) {
				when = when.AddDate(0, 0, 1)
			}
			return when, nil
		}
	}
	return time.Time{}, fmt.Errorf("unknown moment %q", at)
}

// nearest is the index of what lies nearest to a time, the first of several.
func nearest[T any](list []T, at func(T) time.Time, when time.Time) int {
	best := 0
	for i := range list {
		if at(list[i]).Sub(when).Abs() < at(list[best]).Sub(when).Abs() {
			best = i
		}
	}
	return best
}
