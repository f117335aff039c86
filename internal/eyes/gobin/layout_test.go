package gobin

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestLayoutsHoldForPatchesThatTheMeasuredOnesAgreeOn(t *testing.T) {
	for _, c := range []struct {
		version     string
		experiments []string
		m, g        string // sizes of runtime.m and runtime.g, "-" if not given
	}{
		{"go1.24.0", nil, "1808", "440"},
		{"go1.24.3", nil, "1808", "440"},
		{"go1.24.6", nil, "1832", "440"},
		{"go1.24.9", nil, "1832", "440"},
		{"go1.24.77", nil, "-", "440"}, // newer than all measured; runtime.m has moved before
		{"go1.26.4", nil, "1824", "440"},
		{"go1.26.4", []string{"nogreenteagc"}, "1824", "440"},
		{"go1.27.9", nil, "1832", "440"},
	} {
		ids, err := findToolchains("amd64", c.version, c.experiments)
		if err != nil {
			t.Errorf("%s %v: %v", c.version, c.experiments, err)
			continue
		}
		l := loadLayout(ids)
		if m, g := sizeText(l, "runtime.m"), sizeText(l, "runtime.g"); m != c.m || g == "-" {
			t.Errorf("%s %v: m %s, g %s", c.version, c.experiments, m, g)
		}
	}
}

func sizeText(l *Layout, typ string) string {
	if n, ok := l.Size(typ); ok {
		return fmt.Sprint(n)
	}
	return "-"
}

func TestExperimentsThatWereNotMeasuredAreRefused(t *testing.T) {
	for _, exp := range [][]string{{"arenas"}, {"nogreenteagc", "jsonv2"}} {
		if _, err := findToolchains("amd64", "go1.26.8", exp); !errors.Is(err, ErrUnsupportedExperiment) {
			t.Errorf("%v: got %v", exp, err)
		}
	}
}

// The offsets are those that the notes on the runtime's source give.
func TestKnownOffsetsOfEachMinorVersion(t *testing.T) {
	for _, c := range []struct {
		typ, path              string
		v124, v125, v126, v127 int // -1: no such field
	}{
		{"runtime.bucket", "nstk", 40, 40, 40, 40},
		{"runtime.memRecord", "future", 32, 32, 32, 16},
		{"runtime.memRecordCycle", "alloc_bytes", 16, 16, 16, -1},
		{"runtime.mspan", "limit", 112, 112, 112, 112},
		{"runtime.g", "goid", 160, 152, 152, 152},
		{"runtime.g", "sched.pc", 64, 64, 64, 64},
		{"runtime.g", "syscallpc", 120, 112, 112, 112},
		{"runtime.schedt", "ngsys", 72, 80, 96, 96},
		{"runtime.moduledata", "gofunc", 320, 320, 320, 344},
		{"runtime.moduledata", "typelinks.cap", 368, 368, 376, -1},
		{"runtime.mstats", "pause_ns", 3608, 3584, 3584, 3584},
		{"runtime.gcControllerState", "totalFree", 304, 304, 304, 304},
		{"runtime.specialprofile", "b", 24, 24, 24, 24},
		{"internal/abi.Type", "GCData", 32, 32, 32, 32},
	} {
		for version, want := range map[string]int{"go1.24.13": c.v124, "go1.25.7": c.v125, "go1.26.8": c.v126, "go1.27.2": c.v127} {
			got := -1
			ids, err := findToolchains("amd64", version, nil)
			if err != nil {
				t.Fatal(err)
			}
			if off, ok := loadLayout(ids).Offset(c.typ, c.path); ok {
				got = int(off)
			}
			if got != want {
				t.Errorf("%s: %s.%s at %d, want %d", version, c.typ, c.path, got, want)
			}
		}
	}
}

func BenchmarkParseLayout(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		parseLayout([]int{11})
	}
}

func TestTheCompressedLayoutsAreTheTable(t *testing.T) {
	text, err := os.ReadFile("layouts.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if !slices.Equal(slices.Collect(layoutLines()), lines) {
		t.Error("layouts.txt.gz is not layouts.txt compressed: go run ./layoutgen writes both")
	}
}
