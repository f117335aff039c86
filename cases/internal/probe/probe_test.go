package probe

import (
	"encoding/json"
	"net/http"
	"testing"
)

func TestTheProbeAnswersWithTheRuntimesFigures(t *testing.T) {
	l, err := Serve("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	r, err := http.Get("http://" + l.Addr().String() + "/debug/gc")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	values := map[string]float64{}
	if err := json.NewDecoder(r.Body).Decode(&values); err != nil {
		t.Fatal(err)
	}
	if values["/gc/heap/live:bytes"] == 0 || values["/gc/cycles/forced:gc-cycles"] == 0 {
		t.Errorf("no live heap or no forced collection in %v", values)
	}
}

func TestTheProbeIsForThisMachineAlone(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", ":6060", "192.0.2.1:80", "example.org:80", "nonsense"} {
		if l, err := Serve(address); err == nil {
			l.Close()
			t.Errorf("%s was taken", address)
		}
	}
	if l, err := Serve(""); l != nil || err != nil {
		t.Errorf("no address: %v, %v", l, err)
	}
}
