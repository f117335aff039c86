package pull

import (
	"fmt"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// Series puts the profiles of one program, in the order of time, into the terms
// of one process after the other: sites are numbered as they come.
type Series struct {
	program Program
	numbers map[string]int
	allocs  []uint64 // of the last profile, by number
	rate    int64
	scaled  bool
	started bool
}

// Step is what one more profile of a Series brings.
type Step struct {
	// Restarted means that the profile is of another process than the one before it, or is the first. Its sites are
	// numbered from 0 again.
	Restarted bool
	First     int           // number of the first of Sites
	Sites     []sample.Site // those not seen before in this process
	Profile   *sample.HeapProfile
}

// ErrMixed says that two profiles are of different programs.
type ErrMixed struct{ Have, Got Program }

func (e ErrMixed) Error() string {
	if e.Have.Exe != e.Got.Exe {
		return fmt.Sprintf("it is of %s, the ones before of %s", e.Got.Exe, e.Have.Exe)
	}
	return fmt.Sprintf("it is of another build of %s (build ID %s) than the ones before (%s)", e.Got.Name(), e.Got.BuildID, e.Have.BuildID)
}

// Add takes the next profile. It refuses one of another program, by executable
// or build ID as far as both say them. What a process has allocated at a site
// never falls: where it does, the profile is of a new process.
func (s *Series) Add(p *Profile) (Step, error) {
	if s.started && s.program.differs(p.Program) {
		return Step{}, ErrMixed{s.program, p.Program}
	}
	step := Step{Restarted: !s.started || s.restarted(p)}
	if step.Restarted {
		s.numbers, s.allocs = map[string]int{}, nil
	}
	s.program, s.started = s.program.or(p.Program), true
	s.rate, s.scaled = p.Rate, p.Scaled != ""
	step.First = len(s.numbers)
	counts := make([]sample.BucketCounts, len(s.numbers), len(s.numbers)+len(p.Sites))
	for i, site := range p.Sites {
		key := SiteKey(site)
		n, known := s.numbers[key]
		if !known {
			n = len(counts)
			s.numbers[key] = n
			step.Sites, counts = append(step.Sites, site), append(counts, sample.BucketCounts{})
		}
		counts[n] = p.Counts[i]
	}
	s.allocs = s.allocs[:0]
	for i := range counts {
		s.allocs = append(s.allocs, counts[i].PubAllocs)
	}
	step.Profile = &sample.HeapProfile{At: p.At, Rate: p.Rate, Counts: counts}
	return step, nil
}

// restarted reports whether at some site less was allocated than before. A site that is missing had all its figures
// zero, which it never has again. Figures that were scaled by others may stray, and are compared in sum.
func (s *Series) restarted(p *Profile) bool {
	if p.Rate != s.rate || s.scaled || p.Scaled != "" {
		return uint64(p.Allocated) < sum(s.allocs) && s.rate == p.Rate
	}
	seen := 0
	for i, site := range p.Sites {
		n, known := s.numbers[SiteKey(site)]
		if !known {
			continue
		}
		if p.Counts[i].PubAllocs < s.allocs[n] {
			return true
		}
		seen++
	}
	return seen < len(s.allocs)
}

func sum(list []uint64) (total uint64) {
	for _, v := range list {
		total += v
	}
	return total
}

func (p Program) differs(q Program) bool {
	return p.Exe != "" && q.Exe != "" && p.Exe != q.Exe || p.BuildID != "" && q.BuildID != "" && p.BuildID != q.BuildID
}

// or is what either of two profiles of one program says.
func (p Program) or(q Program) Program {
	if p.Exe == "" {
		p.Exe = q.Exe
	}
	if p.BuildID == "" {
		p.BuildID = q.BuildID
	}
	return p
}
