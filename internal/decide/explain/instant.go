package explain

import (
	"time"

	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
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

// Divided is the ledger of the moment with its rows by their names, as two are compared.
func (e *Evidence) Divided() sample.Ledger { return e.divide(e.Moment) }

// ProgramOf is what a process ran, its last exec where it had several; nil: not known.
func (e *Evidence) ProgramOf(key sample.ProcessKey) *sample.Program { return e.program(key) }

// SubjectMoment is the subject within the moment, nil if it is not in it.
func (e *Evidence) SubjectMoment() *sample.ProcessMoment { return e.process() }

// Baseline is the profile from which growth up to the one of that number is counted: that in which least
// was in use since the live heap last came back. Nil: there is none before it.
func (e *Evidence) Baseline(r *recording.Reader, profile int64, sites []sample.Site) (*sample.HeapProfile, error) {
	l := loader{Reader: r, e: e}
	all, err := l.profiles(true)
	if err != nil {
		return nil, err
	}
	return l.baseline(profile, all, sites)
}

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
