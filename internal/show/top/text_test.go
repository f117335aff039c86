package top

import (
	"strings"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/visible"
)

func TestSizesTakeSevenColumns(t *testing.T) {
	for n, want := range map[float64]string{
		0: "0 B", 296: "296 B", 1000: "1.0 KiB", 9.5 * mib: "9.5 MiB", 9.96 * mib: "10 MiB", 388 * mib: "388 MiB",
		999.4 * mib: "999 MiB", 1023 * mib: "1.0 GiB", 2048 * mib: "2.0 GiB", -310 * mib: "-310 MiB", 1 << 62: "4096 PiB",
	} {
		if got := size(n); got != want {
			t.Errorf("size(%v) = %q, want %q", n, got, want)
		}
	}
}

func TestAGrowthIsToldForTheSecondOrTheHour(t *testing.T) {
	for want, v := range map[string]sample.Opt[float64]{
		"~": {}, "0": sample.Some(0.0), "+310 MiB/s": sample.Some(310 * mib), "-10 MiB/s": sample.Some(-10 * mib),
		"+36 MiB/h": sample.Some(36 * mib / 3600), "+999 MiB/s": sample.Some(999 * mib), "+1.0 GiB/s": sample.Some(1000 * mib),
		"+900 MiB/h": sample.Some(0.25*mib - 1),
	} {
		if got := rate(v); got != want {
			t.Errorf("rate(%v) = %q, want %q", v, got, want)
		}
		if width(rate(v)) > 10 {
			t.Errorf("%q is wider than its column", rate(v))
		}
	}
}

func TestTimesTakeSixColumns(t *testing.T) {
	for d, want := range map[time.Duration]string{
		400 * time.Millisecond: "0.4 s", 41 * time.Second: "41 s", 100 * time.Second: "2 min", 99 * time.Minute: "99 min",
		7 * time.Hour: "7 h", 9 * 24 * time.Hour: "9 d", 1000 * 24 * time.Hour: ">99 d",
	} {
		if got := until(d); got != want {
			t.Errorf("until(%v) = %q, want %q", d, got, want)
		}
	}
}

func TestBarsAndSparklinesFillTheirColumns(t *testing.T) {
	for part, want := range map[float64]string{0: "░░░░", 0.25: "█░░░", 0.375: "█▌░░", 1: "████", 1.5: "████", -1: "░░░░"} {
		if got := bar(part, 4, "░"); got != want {
			t.Errorf("bar(%v) = %q, want %q", part, got, want)
		}
	}
	for _, c := range []struct {
		v    []float64
		want string
	}{
		{nil, "      "}, {[]float64{5}, "      "},
		{[]float64{0, 100}, "    ▁█"},
		{[]float64{100, 101, 100, 101}, "  ▁▂▁▂"}, // noise stays low
		{[]float64{0, 10, 0, 20, 0, 30, 0, 40, 0, 50, 0, 60, 0, 70}, "▂▃▄▅▆█"},
	} {
		if got := spark(c.v, 6); got != c.want {
			t.Errorf("spark(%v) = %q, want %q", c.v, got, c.want)
		}
	}
}

func TestATextFromOutsideCannotCommandTheTerminal(t *testing.T) {
	if got := visible.Text("ev\x1b[31mil\r\n\x9b1m\u202eü"); strings.ContainsFunc(got, func(r rune) bool { return r < ' ' || r == 0x9b || r == 0x202e }) ||
		!strings.HasSuffix(got, "ü") {
		t.Errorf("printable: %q", got)
	}
}

func TestALongLineOfAPageIsBrokenAndHung(t *testing.T) {
	got := strings.Join(hung("  a line of a page that is too long for the window", 24), "\n")
	want := "  a line of a page that\n      is too long for\n      the window"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for n := range 60 {
		for _, l := range hung("  one anextremelylongwordthatfitsnowhere and more of it", n) {
			if width(l) > n {
				t.Fatalf("%q is wider than %d", l, n)
			}
		}
	}
}
