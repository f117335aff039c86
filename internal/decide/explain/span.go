package explain

import (
	"fmt"
	"time"

	"github.com/highwater-go/highwater/internal/words/units"
)

// tolerance is how far outside of a recording a time may lie: people type what they
// were shown, which is rounded.
func tolerance(length time.Duration) time.Duration { return max(time.Second, length/50) }

// within refuses a time at which nothing was recorded.
func (l *loader) within(at string) error {
	switch at {
	case "", "kill", "peak", "last":
		return nil
	}
	when, err := timeOf(at, l.e.Start)
	if err != nil {
		return atError{err}
	}
	end := l.e.End
	if last, err := l.PointAt(when.AddDate(1, 0, 0)); err == nil && last.At.After(end) {
		end = last.At
	}
	for _, m := range l.moments {
		if m.At.After(end) {
			end = m.At
		}
	}
	return inSpan(l.e.Start, end, when)
}

// inSpan is nil for a time between start and end, and says where it lies else.
func inSpan(start, end, when time.Time) error {
	length := end.Sub(start)
	span := fmt.Sprintf("it begins at %s and is %s long", start.Local().Format("2006-01-02 15:04:05"), units.Duration(length))
	switch {
	case when.Before(start.Add(-tolerance(length))):
		return fmt.Errorf("%w: %s before the recording; %s", ErrAt, units.Duration(start.Sub(when)), span)
	case when.After(end.Add(tolerance(length))):
		return fmt.Errorf("%w: %s after the recording's end; %s", ErrAt, units.Duration(when.Sub(end)), span)
	}
	return nil
}
