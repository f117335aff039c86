package units

import "testing"

func TestCountsListsAndSharesAreWritten(t *testing.T) {
	for got, want := range map[string]string{
		Count(1, "call"): "1 call", Count(7465, "call"): "7,465 calls", Count(0, "call"): "0 calls", Count(-3, "wait"): "0 waits",
		List(nil, "and"): "", List([]string{"a"}, "and"): "a", List([]string{"a", "b"}, "or"): "a or b", List([]string{"a", "b", "c"}, "and"): "a, b and c",
		Share(0): "0%", Share(0.004): "less than 1%", Share(0.75): "75%", Share(0.998): "more than 99%", Share(1): "100%",
		Thousands(999): "999", Thousands(1234567): "1,234,567", Seconds(1.9): "1.9 s",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
