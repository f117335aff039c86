package probe

import (
	"encoding/json"
	"net/http/httptest"
	"testing"
)

func TestTheProbeAnswersWithTheRuntimesFigures(t *testing.T) {
	w := httptest.NewRecorder()
	handler().ServeHTTP(w, httptest.NewRequest("GET", "/debug/gc", nil))
	values := map[string]float64{}
	if err := json.NewDecoder(w.Body).Decode(&values); err != nil {
		t.Fatal(err)
	}
	if values["/gc/heap/live:bytes"] == 0 || values["/gc/cycles/forced:gc-cycles"] == 0 || values[HeapAddress] == 0 {
		t.Errorf("no live heap, no forced collection or no heap's address in %v", values)
	}
}

func TestTheProbeIsForThisMachineAlone(t *testing.T) {
	if err := Start(t.Context(), "0.0.0.0:0"); err == nil {
		t.Error("every network was taken")
	}
	if err := Start(t.Context(), ""); err != nil {
		t.Errorf("no address: %v", err)
	}
}
