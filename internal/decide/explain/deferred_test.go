package explain

import (
	"strings"
	"testing"
)

// What deferred calls retain is theirs, though a local variable is the nearest thing with a name; and it does not go before the function returns.
func TestWhatDeferredCallsRetainIsTheirs(t *testing.T) {
	h := &HeldBy{Kind: "goroutine", Path: "goroutine runtime.main in its descriptor._defer.fn (captured).compressor", Entries: 172,
		Title: "a local variable of main.main (172 entries)"}
	if got := h.String(); got != "the deferred calls of a goroutine running main.main (172 values)" {
		t.Error(got)
	}
	if h.Entries = 0; strings.Contains(h.String(), "value") {
		t.Errorf("of values that were not counted: %s", h)
	}
	a := answerOf(t, heapScenes["deferred calls that pile up"]())
	if len(a.Fixes) == 0 || !strings.HasPrefix(a.Fixes[0].Text, "move the loop's body into a function") ||
		!strings.Contains(a.Verdict.Why[0].Text, "defer inside a loop") {
		t.Errorf("%+v %+v", a.Fixes, a.Verdict.Why)
	}
}
