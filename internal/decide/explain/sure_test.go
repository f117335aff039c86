package explain

import (
	"strings"
	"testing"
)

// What makes a leak one of low confidence stands in the line; of others the readings say more.
func TestTheReasonOfALowConfidenceIsInItsLine(t *testing.T) {
	for _, k := range []struct{ doubt, says string }{
		{doubtResult, "it may be what the program is for. Run a larger job"},
		{doubtInOneCall, "one call allocated the memory, and had not returned. Run for longer: when the call returns"},
		{doubtFirstRise, "15 GCs in 22 s. A cache that is still filling looks the same"},
	} {
		v := &Verdict{Class: Leak, Confidence: Low, Reasons: []string{"15 GCs in 22 s", doubtFirstRise, k.doubt}}
		if got := sure(v, &Outcome{}, nil); !strings.HasPrefix(got, "Low confidence: ") || !strings.Contains(got, k.says) {
			t.Errorf("%s: %s", k.doubt, got)
		}
	}
}
