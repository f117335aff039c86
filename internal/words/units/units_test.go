package units

import (
	"math"
	"testing"
	"time"
)

func TestSizesArePrintedInBinaryUnits(t *testing.T) {
	for _, c := range []struct {
		n    int64
		want string
	}{{0, "0 B"}, {1023, "1023 B"}, {1 << 10, "1.0 KiB"}, {202480026, "193.1 MiB"}, {-3 << 20, "-3.0 MiB"}, {5 << 30, "5.0 GiB"}} {
		if got := Size(c.n); got != c.want {
			t.Errorf("Size(%d) = %q, want %q", c.n, got, c.want)
		}
	}
	if got := Limit(uint64(256 << 20)); got != "256 MiB" {
		t.Errorf("Limit = %q", got)
	}
	if got := Delta(85354086); got != "+81.4 MiB" {
		t.Errorf("Delta = %q", got)
	}
	for n, want := range map[int64]string{230<<20 + 5: "230MiB", 10 << 20: "10MiB", 5000 << 10: "5000KiB", 17<<20 + 1<<10: "17MiB"} {
		if got := Env(n); got != want {
			t.Errorf("Env(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestSizesAreReadAsPeopleWriteThem(t *testing.T) {
	for _, c := range []struct {
		s    string
		want uint64
	}{{"256MiB", 256 << 20}, {"256Mi", 256 << 20}, {"256m", 256 << 20}, {"1.5 GiB", 3 << 29}, {"1GB", 1 << 30}, {"1024", 1024}, {"0", 0}} {
		got, err := ParseSize(c.s)
		if err != nil || got != c.want {
			t.Errorf("ParseSize(%q) = %d, %v, want %d", c.s, got, err, c.want)
		}
	}
	for _, s := range []string{"", "MiB", "-1MiB", "12parsecs", "1e400", "NaN", "9999999T"} {
		if got, err := ParseSize(s); err == nil {
			t.Errorf("ParseSize(%q) = %d, want an error", s, got)
		}
	}
}

func TestDurationsArePrintedAsSpoken(t *testing.T) {
	for _, c := range []struct {
		d    time.Duration
		want string
	}{{41 * time.Second, "41 s"}, {1900 * time.Millisecond, "1.9 s"}, {6 * time.Hour, "6 h"}, {125 * time.Minute, "2 h 5 min"}, {350 * time.Microsecond, "350 µs"},
		{72 * time.Hour, "3.0 days"},
		{-2 * time.Second, "-2.0 s"}, {math.MinInt64, "-106752.0 days"}} {
		if got := Duration(c.d); got != c.want {
			t.Errorf("Duration(%v) = %q, want %q", c.d, got, c.want)
		}
	}
}

func TestASentenceHasThreeDigits(t *testing.T) {
	for n, want := range map[int64]string{202480026: "193 MiB", 3 << 20: "3.0 MiB", 999: "999 B", -200 << 20: "-200 MiB", 104805171: "99.9 MiB",
		1020 << 10: "1.0 MiB", 1013 << 20: "1.0 GiB"} {
		if got := Short(n); got != want {
			t.Errorf("Short(%d) = %q, want %q", n, got, want)
		}
	}
}
