package moment

import (
	"fmt"
	"math"
	"time"

	"github.com/highwater-go/highwater/internal/words/units"
)

// Side says which moment it is, as JSON has it.
type Side struct {
	Recording string  `json:"recording"`
	Program   string  `json:"program"`
	PID       int     `json:"pid"`
	GoVersion string  `json:"go_version"`
	BuildID   string  `json:"build_id"`
	Moment    string  `json:"moment"`         // "kill", "peak", "last" or "time"
	At        string  `json:"at"`             // RFC 3339
	Elapsed   float64 `json:"moment_seconds"` // since the start
	View      string  `json:"view"`           // of the heap: "live", "published" or "none"
	Rate      int64   `json:"rate_bytes"`     // of its sampling
	OfCgroup  bool    `json:"of_cgroup"`
}

// Side says which moment it is.
func (s *Profiled) Side() Side {
	p := s.Program()
	out := Side{Recording: s.Recording, Program: p.Name, PID: s.Subject.PID, Moment: s.At, At: s.Moment.At.Format(time.RFC3339Nano),
		Elapsed: s.Seconds(s.Moment.At), View: s.View, OfCgroup: s.Moment.Cgroup != nil}
	if s.Profile.HeapProfile != nil {
		out.Rate = s.Profile.Rate
	}
	if p.Go != nil {
		out.GoVersion, out.BuildID = p.Go.Version, p.Go.BuildID
	}
	return out
}

// Notes say that the profile is of another time, or where the nearest one is.
func (s *Profiled) Notes() (out []string) {
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	at := units.Seconds(s.Seconds(s.Moment.At))
	switch {
	case s.View == "none" && s.First.IsZero():
		add("%s has no heap profile of %s: lines cannot be compared%s", s.Recording, s.Name(), s.WhyNot())
	case s.View == "none":
		add("%s has no heap profile at %s or before; the nearest is at %s", s.Recording, at, flagTime(s.Seconds(s.First)))
	case s.Moment.At.Sub(s.Taken) > time.Second:
		add("%s has no heap profile at %s; the nearest before it, of %s, is taken", s.Recording, at, flagTime(s.Seconds(s.Taken)))
	}
	return out
}

// flagTime is a time since the start as --from and --to read it: "12.4s".
func flagTime(seconds float64) string {
	return time.Duration(math.Ceil(seconds*10) / 10 * float64(time.Second)).String()
}

// Name is the program's.
func (s *Profiled) Name() string {
	if name := s.Program().Name; name != "" {
		return name
	}
	return "an unknown program"
}

// WhyNot says in brackets why the program was not read, "" where that is not known.
func (s *Profiled) WhyNot() string {
	if why := s.Program().WhyNot; why != "" {
		return " (" + why + ")"
	}
	return ""
}
