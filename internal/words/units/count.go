package units

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Thousands is a number with separators: "7,465".
func Thousands(n uint64) string {
	digits := strconv.FormatUint(n, 10)
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// Count is n things: "1 call", "7,465 calls". The noun's plural takes an s.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Thousands(uint64(max(0, n))) + " " + noun + "s"
}

// List joins words: "a", "a and b", "a, b and c".
func List(words []string, last string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " " + last + " " + words[len(words)-1]
}

// Share is a part of 1 in percent, which is never "0%" or "100%" of what is neither: "75%",
// "less than 1%", "more than 99%".
func Share(part float64) string {
	switch {
	case part > 0 && part < 0.01:
		return "less than 1%"
	case part < 1 && part > 0.99:
		return "more than 99%"
	}
	return fmt.Sprintf("%.0f%%", 100*part)
}

// Seconds is Duration of so many seconds.
func Seconds(s float64) string { return Duration(time.Duration(s * float64(time.Second))) }
