package app

import "testing"

// A restarting container must not fill the disk, and must not take the recordings of another
// service that dies at the same line.
func TestOfOneCauseInAServiceThreeRecordingsAnHourAreKept(t *testing.T) {
	var a agent
	for n := range 2 * keptOfCause {
		for _, service := range []string{"checkout", "search"} {
			if keep := a.worth(service, "hw-1"); keep != (n < keptOfCause) {
				t.Errorf("recording %d of %s: kept %v", n+1, service, keep)
			}
		}
	}
	if !a.worth("checkout", "hw-2") {
		t.Error("another cause of the same service is not kept")
	}
	for range 2 * keptOfCause {
		if !a.worth("checkout", "") {
			t.Error("what has no cause is not kept")
		}
	}
}
