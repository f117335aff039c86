package explain

import (
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// What a library's table keeps of each call in flight lasts as long as the call, though the table lasts for ever: a
// server of gRPC keeps what a stream has to send under the loop that writes.
func TestATableWithOneEntryForEachCallLastsAsTheCallsDo(t *testing.T) {
	for _, c := range []struct {
		name     string
		calls    int
		streams  uint64
		seconds  float64
		standing bool
		want     tenure
	}{
		{"as many as calls", 500, 500, 2, false, passing},
		{"a few that end meanwhile", 500, 530, 2, false, passing},
		{"many more than calls", 500, 5000, 2, false, lasts},
		{"fewer than calls", 500, 20, 2, false, lasts},
		{"few calls, by accident as many", 9, 9, 2, false, lasts},
		{"the same calls all along", 500, 500, 2, true, unknownTenure},
		{"calls of which none was seen to begin or end for a while", 500, 500, 60, false, unknownTenure},
	} {
		s := newScene()
		s.captured(100,
			sample.HeapPath{Parent: -1, Label: "shop.conns", Root: &sample.HeapRoot{Kind: sample.RootGlobal}, Objects: 1, Retained: 100 * mib},
			sample.HeapPath{Parent: 0, Label: ".streams[]", Type: "shop.stream", Objects: c.streams, Retained: 100 * mib},
			sample.HeapPath{Parent: 1, Label: ".queue.data", Type: "[]uint8", Objects: 6000, Retained: 99 * mib})
		k := &Case{Evidence: s.Evidence, outcome: Outcome{MomentElapsed: c.seconds}, inFlight: callCorrelation{calls: c.calls, standing: c.standing}}
		if got := k.tenureOf(2); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}
