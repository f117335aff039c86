package trial

import "github.com/highwater-go/highwater/internal/words/sample"

// Phase is what a run of a search is for.
type Phase string

// The phases. Bounding finds a limit that is too small and one that is enough,
// Bisecting halves what lies between, Confirming repeats the smallest that survived.
const (
	Bounding   Phase = "bounding"
	Bisecting  Phase = "bisecting"
	Confirming Phase = "confirming"
	Over       Phase = "over"
)

// Search looks for the smallest limit that is survived. Next says which limit to
// run under, Note what came of it. The edge is a matter of luck: a limit that
// survived once is confirmed by runs that did not choose it, and raised where one of
// them is lost.
type Search struct {
	// From is expected to be too little, To to be enough; at From ends nothing is
	// known yet. No limit below Floor or above Ceiling is tried.
	From, To, Floor, Ceiling sample.Bytes
	Confirm                  int // runs that confirm

	lost, survived sample.Bytes // the greatest that was lost, the smallest that survived since; 0: none
	confirmed      int
	over           bool
}

// The parts of a limit by which a search moves: up where none survived yet, down
// where none was lost, up where a confirming run was lost, and how near the ends
// are brought to one another.
const (
	searchUp    = 1.25
	searchDown  = 0.8
	searchRaise = 1.05
	searchNear  = 0.03
)

// grain is what limits are rounded to: whole MiB, less where that would be much.
func grain(limit sample.Bytes) sample.Bytes {
	if limit < 32*sample.MiB {
		return 256 * sample.KiB
	}
	return sample.MiB
}

// rounded rounds a limit up to its grain, within the bounds.
func (s *Search) rounded(limit float64) sample.Bytes {
	g := grain(sample.Bytes(limit))
	return min(max((sample.Bytes(limit)+g-1)/g*g, s.Floor), s.Ceiling)
}

// Next is the limit of the next run.
func (s *Search) Next() (sample.Bytes, Phase) {
	switch {
	case s.over:
		return 0, Over
	case s.survived == 0 && s.lost == 0:
		return s.rounded(float64(s.To)), Bounding
	case s.survived == 0:
		return s.rounded(max(float64(s.lost)*searchUp, float64(s.To))), Bounding
	case s.lost == 0 && s.survived > s.Floor:
		down := float64(s.survived) * searchDown
		if from := float64(s.From); s.survived == s.rounded(float64(s.To)) && from < float64(s.survived) {
			down = from
		}
		return s.rounded(down), Bounding
	case s.lost > 0 && float64(s.survived-s.lost) > max(searchNear*float64(s.survived), float64(grain(s.survived))):
		return s.rounded(float64(s.lost+s.survived) / 2), Bisecting
	}
	return s.survived, Confirming
}

// Note is what came of the run under the limit that Next gave.
func (s *Search) Note(survived bool) {
	limit, phase := s.Next()
	switch {
	case phase == Over:
	case phase == Confirming && survived:
		s.confirmed++
		s.over = s.confirmed >= s.Confirm
	case phase == Confirming:
		s.raise(limit)
	case survived && limit == s.survived: // the floor, or a grain
		s.lost = limit - 1
	case survived:
		s.survived = limit
	default:
		s.lost = limit
		s.over = s.survived == 0 && limit >= s.Ceiling
	}
	if s.lost >= s.survived && s.survived > 0 {
		s.lost = s.survived - 1
	}
}

// raise begins to confirm a greater limit.
func (s *Search) raise(limit sample.Bytes) {
	s.confirmed, s.lost = 0, limit
	s.survived = s.rounded(float64(limit+1) * searchRaise)
	if s.survived <= limit {
		s.survived, s.over = 0, true
	}
	if s.survived > 0 {
		s.lost = s.survived - 1 // to confirm it, not to bisect again
	}
}

// Found is the confirmed limit; ok is false where none was.
func (s *Search) Found() (limit sample.Bytes, confirmed int, ok bool) {
	return s.survived, s.confirmed, s.over && s.survived > 0 && s.confirmed >= s.Confirm
}
