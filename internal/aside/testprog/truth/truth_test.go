package truth

import (
	"flag"
	"testing"
)

func TestAMarkedLineIsFoundWithItsFunction(t *testing.T) {
	source := "package main\n\nfunc (s *store) keep(n int) {\n\tx() // truth: a\n}\n\nfunc (v value) get() { y() // truth: b\n}\n\nfunc plain[T any](n T) {\n\tz() // truth: c\n}\n"
	for _, c := range []struct {
		name, function string
		line           int
	}{{"a", "main.(*store).keep", 4}, {"b", "main.value.get", 7}, {"c", "main.plain", 11}} {
		if p := Find(source, c.name); p.Function != c.function || p.Line != c.line {
			t.Errorf("%s: %s line %d, want %s line %d", c.name, p.Function, p.Line, c.function, c.line)
		}
	}
}

func TestALineThatIsNotMarkedPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	Find("package main\n", "gone")
}

func TestSizesAreReadAndPrinted(t *testing.T) {
	var _ flag.Value = new(Size)
	for text, want := range map[string]Size{"0": 0, "17": 17, "64KiB": 65536, "256MiB": 256 << 20, "1GiB": 1 << 30} {
		var s Size
		if err := s.Set(text); err != nil || s != want || s.String() != text {
			t.Errorf("%s: %d prints %s (%v), want %d", text, s, s.String(), err, want)
		}
	}
	for _, text := range []string{"", "x", "-1", "12MB", "1.5GiB", "65GiB", "99999999999999999999"} {
		var s Size
		if err := s.Set(text); err == nil {
			t.Errorf("%q is read as %d", text, s)
		}
	}
}

func TestTouchWritesEveryPage(t *testing.T) {
	b := make([]byte, 3*PageSize+1)
	Touch(b)
	for i := 0; i < len(b); i += PageSize {
		if b[i] != 1 {
			t.Errorf("page at %d is not touched", i)
		}
	}
}
