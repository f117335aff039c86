package gobin

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// The probe asks its own runtime about every 31st byte of its code: ends of
// functions, inlined calls and the gaps between functions are among them.
func TestFramesAreThoseOfTheRuntimeAtAnyPC(t *testing.T) {
	eachProbe(t, func(t *testing.T, exe string, b *Binary) {
		start, lines := ask(t, exe, "pcs", "31")
		bias := start - b.Base()
		if b.PIE == (bias == 0) {
			t.Errorf("bias is %#x, PIE is %v", bias, b.PIE)
		}
		var c pcCheck
		for len(lines) > 0 {
			n := 1
			for n < len(lines) && lines[n][0] == "call" {
				n++
			}
			c.one(t, b, bias, lines[:n])
			lines = lines[n:]
		}
		if c.pcs < 20000 || c.inlined < 4000 || c.outside > 5 {
			t.Errorf("compared %d pcs, %d of them in inlined calls, %d outside functions", c.pcs, c.inlined, c.outside)
		}
	})
}

type pcCheck struct{ pcs, inlined, outside, bad int }

// one compares what gobin says of a pc with the probe's lines about it.
func (c *pcCheck) one(t *testing.T, b *Binary, bias uint64, lines [][]string) {
	c.pcs++
	pc := hexNumber(t, lines[0][1]) - bias
	fn, ok := b.FuncAt(pc)
	frames := b.Frames(nil, pc)
	if lines[0][0] == "none" {
		c.outside++
		if ok || len(frames) > 0 {
			t.Errorf("%#x is in no function; got %v, %v", pc, fn.Name(), frames)
		}
		return
	}
	sp, spOK := fn.SPDelta(pc)
	if !spOK {
		sp = -1
	}
	flag := 0
	if fn.TopFrame {
		flag = flagTopFrame
	}
	got := []string{fmt.Sprintf("%d %d %d", sp, fn.FuncID, flag)}
	for _, f := range frames {
		got = append(got, fmt.Sprintf("%s %s %s %d %d %#x", f.Func, f.Symbol, f.File, f.Line, f.StartLine, f.Entry))
	}
	want := []string{fmt.Sprintf("%s %s %d", lines[0][2], lines[0][3], hexNumber(t, lines[0][4])&flagTopFrame)}
	if b.GoVersion == "go1.20.14" && fn.Wrapper && len(frames) > 0 && frames[len(frames)-1].Inlined {
		// Go 1.20 leaves wrappers out of a stack, but not where it expands one pc.
		lines = lines[:len(lines)-1]
	}
	for _, l := range lines[1:] {
		want = append(want, strings.Join(l[1:6], " ")+fmt.Sprintf(" %#x", hexNumber(t, l[6])-bias))
	}
	if len(frames) > 1 {
		c.inlined++
	}
	if c.bad < 5 && !slices.Equal(got, want) {
		c.bad++
		t.Errorf("at %#x\ngot  %s\nwant %s", pc, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
}

// The probe writes its heap profile and prints the same stacks as
// runtime.MemProfile gives them. The runtime itself may allocate in between.
func TestLocationsAreThoseOfTheProgramsOwnHeapProfile(t *testing.T) {
	eachProbe(t, func(t *testing.T, exe string, b *Binary) {
		file := filepath.Join(t.TempDir(), "heap.pb.gz")
		start, lines := ask(t, exe, "profile", file)
		bias := start - b.Base()
		want, seen := ownStacks(t, file, bias), map[string]bool{}
		for _, l := range lines {
			var stack []uint64
			for _, w := range l[1:] {
				stack = append(stack, hexNumber(t, w)-bias)
			}
			locations, hidden := b.Site(stack)
			got := locationText(locations[hidden:])
			if !want[got] {
				t.Errorf("not in the program's own profile:\n%s", got)
			}
			seen[got] = true // more than once: buckets of several sizes have it
		}
		for text := range want {
			if strings.Contains(text, "main.shapes") && !seen[text] {
				t.Errorf("only in the program's own profile:\n%s", text)
			}
		}
	})
}

func locationText(locs []sample.Location) string {
	var s strings.Builder
	for _, l := range locs {
		fmt.Fprintf(&s, "%#x\n", l.Address)
		for _, f := range l.Frames {
			fmt.Fprintf(&s, "\t%s %s:%d, from %d\n", f.Func, f.File, f.Line, f.StartLine)
		}
	}
	return s.String()
}

func ownStacks(t *testing.T, file string, bias uint64) map[string]bool {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.Parse(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	stacks := map[string]bool{}
	for _, s := range p.Sample {
		var locs []sample.Location
		for _, l := range s.Location {
			loc := sample.Location{Address: l.Address - bias}
			for _, line := range l.Line {
				loc.Frames = append(loc.Frames, sample.Frame{
					Func: line.Function.SystemName, File: line.Function.Filename,
					Line: int(line.Line), StartLine: int(line.Function.StartLine),
				})
			}
			locs = append(locs, loc)
		}
		stacks[locationText(locs)] = true
	}
	if len(stacks) < 15 {
		t.Fatalf("only %d stacks in the program's own profile", len(stacks))
	}
	return stacks
}
