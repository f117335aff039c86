package truth

import (
	"fmt"
	"strconv"
	"strings"
)

// Size is a flag value in bytes: "64KiB", "256MiB", "1GiB" or a plain number.
type Size int64

// The units.
const (
	KiB Size = 1 << 10
	MiB Size = 1 << 20
	GiB Size = 1 << 30
)

// String prints s in the largest unit that divides it.
func (s *Size) String() string {
	switch {
	case s == nil || *s == 0:
		return "0"
	case *s%GiB == 0:
		return fmt.Sprintf("%dGiB", *s/GiB)
	case *s%MiB == 0:
		return fmt.Sprintf("%dMiB", *s/MiB)
	case *s%KiB == 0:
		return fmt.Sprintf("%dKiB", *s/KiB)
	}
	return strconv.FormatInt(int64(*s), 10)
}

// Set reads s.
func (s *Size) Set(text string) error {
	number, unit := text, Size(1)
	for suffix, u := range map[string]Size{"KiB": KiB, "MiB": MiB, "GiB": GiB} {
		if cut, ok := strings.CutSuffix(text, suffix); ok {
			number, unit = cut, u
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 0 || n > int64(64*GiB/unit) {
		return fmt.Errorf("%q is no size up to 64GiB: write 64KiB, 256MiB or 1GiB", text)
	}
	*s = Size(n) * unit
	return nil
}

// Progress is s as a program prints it: in MiB with one decimal.
func (s Size) Progress() string { return fmt.Sprintf("%.1f MiB", float64(s)/float64(MiB)) }
