package perfetto

import (
	"bytes"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/highwater-go/highwater/internal/aside/hwtest/recorded"
	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// packets counts a trace's packets by what they have. What they say is read in module interop by
// Perfetto's own types.
func packets(t *testing.T, b []byte) map[protowire.Number]int {
	t.Helper()
	all := map[protowire.Number]int{}
	for len(b) > 0 {
		_, _, size := protowire.ConsumeTag(b)
		packet, n := protowire.ConsumeBytes(b[size:])
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		b = b[size+n:]
		for len(packet) > 0 {
			field, kind, n := protowire.ConsumeField(packet)
			if n < 0 {
				t.Fatal(protowire.ParseError(n))
			}
			_ = kind
			all[field], packet = all[field]+1, packet[n:]
		}
	}
	return all
}

func TestATraceHasATrackForEachCounterAndAnEventForEachChange(t *testing.T) {
	path := recorded.Steps(t, "app", "1", []sample.Frame{{Func: "main.keep", File: "main.go", Line: 3}}, recorded.Step{1}, recorded.Step{2}, recorded.Step{2})
	r, err := recording.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var out bytes.Buffer
	if err := Write(&out, r); err != nil {
		t.Fatal(err)
	}
	got := packets(t, out.Bytes())
	if want := 2 + len(ofCgroup) + len(ofProcess); got[packetTrack] != want || got[packetClocks] != 1 || got[packetFlags] != 1 {
		t.Errorf("%v: want %d tracks, the clocks and the start once", got, want)
	}
	// Usage, anonymous memory, RSS, heap and heap in use change once more, three others and the heap's goal,
	// stacks and goroutines never; the third reading is the second's.
	if got[packetEvent] < 5*2 || got[packetTime] < got[packetEvent] {
		t.Errorf("%v", got)
	}
}
