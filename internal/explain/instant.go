package explain

import (
	"time"

	"github.com/highwater-go/highwater/internal/recording"
	"github.com/highwater-go/highwater/internal/sample"
)

// LedgerAt divides what one sample saw. Its pages were not read: where Go's
// memory lay is inferred from the runtime's own figures, as though every page of
// them were resident, and what was dead is known only as far as collections tell.
func (e *Evidence) LedgerAt(p *sample.Point) Ledger {
	m := sample.Moment{At: p.At, Cgroup: p.Cgroup}
	for _, one := range p.Processes {
		m.Processes = append(m.Processes, sample.ProcessMoment{Key: one.Key, Resident: one.Resident, Go: one.Go})
	}
	return ledgerOf(e.divide(m), 0)
}

// LedgerThen divides the moment that the evidence is read for, by its pages where they were read.
func (e *Evidence) LedgerThen() Ledger { return ledgerOf(e.divide(e.Moment), 0) }

// Seconds is a time of the recording in seconds since its start.
func (e *Evidence) Seconds(t time.Time) float64 { return e.seconds(t) }

// MomentAt is when the moment was that "kill", "peak" or "last" names.
func MomentAt(r *recording.Reader, name string) (time.Time, error) {
	list, err := r.Moments()
	if err != nil {
		return time.Time{}, err
	}
	i, _, err := chooseMoment(list, name, true, time.Time{})
	if err != nil {
		return time.Time{}, err
	}
	return list[i].At, nil
}
