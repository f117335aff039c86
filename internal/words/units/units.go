// Package units prints and parses sizes, rates and durations as people write
// them. Sizes are binary everywhere: KiB, MiB, GiB.
package units

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

var sizeNames = []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}

// Size prints an amount of bytes with one decimal below 1000 of its unit:
// "193.1 MiB", "512 B". A negative amount keeps its sign.
func Size[T ~int | ~int64 | ~uint64](n T) string {
	v, unit := scale(float64(n))
	if unit == 0 {
		return fmt.Sprintf("%d B", int64(n))
	}
	return fmt.Sprintf("%.1f %s", v, sizeNames[unit])
}

// Short is Size with at most three digits, as a sentence has them: "193 MiB", "2.9 MiB".
func Short[T ~int | ~int64 | ~uint64](n T) string {
	v, unit := scale(float64(n))
	if math.Abs(v) < 100 || unit == 0 {
		return Size(n)
	}
	if math.Abs(v) >= 999.5 && unit < len(sizeNames)-1 {
		return fmt.Sprintf("%.1f %s", v/1024, sizeNames[unit+1])
	}
	return fmt.Sprintf("%.0f %s", v, sizeNames[unit])
}

// Delta prints a signed amount: "+81.4 MiB".
func Delta(n int64) string {
	if n >= 0 {
		return "+" + Size(n)
	}
	return Size(n)
}

// Limit prints a size that somebody chose: without decimals where it is a whole
// number of its unit ("256 MiB"), else like Size.
func Limit[T ~int | ~int64 | ~uint64](n T) string {
	v, unit := scale(float64(n))
	if v == math.Trunc(v) {
		return fmt.Sprintf("%.0f %s", v, sizeNames[unit])
	}
	return Size(n)
}

// Env prints a size as GOMEMLIMIT reads it, rounded down to whole MiB, below
// 16 MiB to whole KiB: "230MiB", "10240KiB" as "10MiB", "5000KiB".
func Env[T ~int | ~int64 | ~uint64](n T) string {
	if n < 16<<20 && (n>>10)%1024 != 0 {
		return fmt.Sprintf("%dKiB", int64(n)>>10)
	}
	return fmt.Sprintf("%dMiB", int64(n)>>20)
}

func scale(v float64) (float64, int) {
	unit := 0
	for math.Abs(v) >= 1024 && unit < len(sizeNames)-1 {
		v /= 1024
		unit++
	}
	return v, unit
}

// ParseSize reads a size: a number with a unit K, M, G or T, written "256MiB",
// "256Mi", "256M" or "256m" (all binary, as Docker and GOMEMLIMIT's users mean
// them), "1.5GiB", or plain bytes "268435456".
func ParseSize(s string) (uint64, error) {
	text := strings.TrimSpace(s)
	end := strings.LastIndexAny(text, "0123456789.") + 1
	number, unit := text[:end], strings.ToLower(strings.TrimSpace(text[end:]))
	shift, ok := map[string]uint{
		"": 0, "b": 0, "k": 10, "kb": 10, "ki": 10, "kib": 10, "m": 20, "mb": 20, "mi": 20, "mib": 20,
		"g": 30, "gb": 30, "gi": 30, "gib": 30, "t": 40, "tb": 40, "ti": 40, "tib": 40,
	}[unit]
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || !ok || v < 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return 0, fmt.Errorf("%q is not a size: write a number and a unit, as in 256MiB or 1.5GiB", s)
	}
	v *= float64(uint64(1) << shift)
	if v > math.MaxInt64/2 {
		return 0, fmt.Errorf("%q is more than any machine has", s)
	}
	return uint64(v), nil
}

// Duration prints a duration as a person would say it: "41 s", "6 h", "2 h 5 min",
// "1.9 s", "350 ms".
func Duration(d time.Duration) string {
	switch {
	case d == math.MinInt64: // its negative is itself
		return "-" + Duration(math.MaxInt64)
	case d < 0:
		return "-" + Duration(-d)
	case d < time.Millisecond:
		return fmt.Sprintf("%d µs", d.Microseconds())
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	h, m := int(d.Hours()), int(d.Minutes())%60
	if h >= 48 {
		return fmt.Sprintf("%.1f days", d.Hours()/24)
	}
	if m == 0 || h >= 10 {
		return fmt.Sprintf("%d h", h)
	}
	return fmt.Sprintf("%d h %d min", h, m)
}

// Rate prints bytes a second: "310.0 MiB/s".
func Rate(perSecond float64) string {
	return Size(int64(perSecond)) + "/s"
}

// Percent prints a share of a whole, "75%"; "<1%" for a part too small to show
// and "-" where the whole is zero.
func Percent(part, whole float64) string {
	if whole <= 0 {
		return "-"
	}
	p := 100 * part / whole
	if p > 0 && p < 0.5 {
		return "<1%"
	}
	return fmt.Sprintf("%.0f%%", p)
}
