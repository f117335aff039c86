package explain

import (
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

func TestAProgramThatCouldNotBeReadIsNotCalledAnotherLanguages(t *testing.T) {
	key := sample.ProcessKey{PID: 7, Start: 1}
	p := sample.ProcessMoment{Key: key, Resident: &sample.Resident{Total: 42 * sample.MiB}}
	for why, row := range map[string]string{
		"open /proc/7/exe: permission denied: it is of user 0": sample.RowUndivided,
		"not a Go program": sample.RowNative,
	} {
		e := &Evidence{Programs: []sample.Program{{Key: key, WhyNot: why}}}
		if got := rowsOf(divide(sample.Moment{Processes: []sample.ProcessMoment{p}}, nil, e.isGo)); got[row] != 42 || len(got) != 1 {
			t.Errorf("%q: rows %v, want all in %q", why, got, row)
		}
	}
}
