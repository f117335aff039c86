package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// lastBreath lets the kernel kill a program that fills 256 MiB as fast as it
// can, again and again, and counts the deaths of which all was read.
func lastBreath(r *room) ([]row, error) {
	kills := r.least(20)
	var took, marks []time.Duration
	complete, missing := 0, ""
	for i := range kills {
		path := filepath.Join(r.dir, fmt.Sprintf("kill-%d.hwm", i))
		p, err := start(r.tool, "run", "--limit", "256MiB", "-q", "-o", path, "--", r.target, "-sites", "2000", "-do", "fill")
		if err != nil {
			return nil, err
		}
		if err := p.end(); err != nil {
			return nil, err
		}
		m, err := deathIn(path)
		if err != nil {
			return nil, err
		}
		if why := lacks(m); why != "" {
			missing = fmt.Sprintf("; kill %d lacks %s", i+1, why)
			continue
		}
		complete++
		took = append(took, m.Took)
		if live := m.Processes[0].Live; live != nil {
			marks = append(marks, live.Took)
		}
	}
	slices.Sort(took)
	slices.Sort(marks)
	all := fmt.Sprintf("%d of %d", kills, kills)
	if complete == 0 {
		return []row{{What: whatKills, Floor: all, Figure: "none", More: missing}}, nil
	}
	return []row{
		{What: whatKills, Floor: all, Figure: fmt.Sprintf("%d of %d", complete, kills), Pass: complete == kills,
			More: fmt.Sprintf("%d of them with what was reachable%s", len(marks), missing)},
		{
			What: "How long a killed program of 256 MiB is held", Floor: "under 1800 ms",
			Figure: fmt.Sprintf("%d ms", took[len(took)/2].Milliseconds()), Pass: took[len(took)-1] < 1800*time.Millisecond,
			More: fmt.Sprintf("worst %d ms; of it marking what was reachable %s", took[len(took)-1].Milliseconds(), middle(marks)),
		},
	}, nil
}

const whatKills = "Complete last breaths at full allocation speed under 256 MiB"

// deathIn is the death by SIGKILL in a recording, nil if there is none.
func deathIn(path string) (*sample.Moment, error) {
	r, err := recording.Open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	moments, err := r.Moments()
	if err != nil {
		return nil, err
	}
	for _, m := range moments {
		if m.Kind == sample.MomentDeath && len(m.Processes) == 1 && m.Processes[0].Signal == 9 {
			return r.Moment(m.ID)
		}
	}
	return nil, nil
}

// lacks says what a last breath misses, "" if nothing.
func lacks(m *sample.Moment) string {
	if m == nil {
		return "the moment itself"
	}
	p := m.Processes[0]
	switch {
	case p.Incomplete != "":
		return p.Incomplete
	case p.Go == nil:
		return "Go's figures"
	case p.Profile == nil || len(p.Profile.Counts) < 2000:
		return "the heap profile"
	case len(p.Goroutines) == 0:
		return "the goroutines"
	case p.Residency == nil || !p.Residency.GoKnown:
		return "the resident pages"
	case m.Cgroup == nil || m.CgroupAfter == nil:
		return "the charge"
	}
	return ""
}

func middle(sorted []time.Duration) string {
	if len(sorted) == 0 {
		return "never done"
	}
	return fmt.Sprintf("%d ms", sorted[len(sorted)/2].Milliseconds())
}
