package gomem_test

import (
	"fmt"
	"maps"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/highwater-go/highwater/internal/eyes/gobin"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// saidGoroutines counts the goroutines of a traceback of all by their text:
// state, functions with their lines, where they were started.
func (p *target) saidGoroutines() map[string]int {
	all := make(map[string]int)
	text := strings.Join(p.ask("dump"), "\n")
	for _, g := range strings.Split(strings.TrimSpace(text), "\n\n") {
		lines := strings.Split(g, "\n")
		key := []string{waitTime.ReplaceAllString(stateOf.FindStringSubmatch(lines[0])[1], "")}
		for i := 1; i+1 < len(lines); i += 2 {
			name, position := lines[i], strings.Fields(lines[i+1])[0]
			if by, ok := strings.CutPrefix(name, "created by "); ok {
				name = "created by " + strings.Split(by, " in goroutine")[0]
			} else {
				name = name[:strings.LastIndex(name, "(")]
			}
			key = append(key, name+" "+position)
		}
		all[strings.Join(key, "\n  ")]++
	}
	return withoutMain(all)
}

var (
	stateOf  = regexp.MustCompile(`\[(.*)\]:$`)
	waitTime = regexp.MustCompile(`, \d+ minutes`)
)

// withoutMain leaves out the goroutine that answers: it runs while it writes
// the traceback and waits for the next command while it is read from outside.
func withoutMain(all map[string]int) map[string]int {
	maps.DeleteFunc(all, func(key string, _ int) bool { return strings.Contains(key, "main.main ") })
	return all
}

// seenGoroutines is what was read, in the same words.
func (p *target) seenGoroutines() map[string]int {
	p.t.Helper()
	groups, err := p.stats.Goroutines()
	if err != nil {
		p.t.Fatal(err)
	}
	all := make(map[string]int)
	for _, g := range groups {
		state := g.State
		if g.Reason != "" {
			state = g.Reason
		}
		key := []string{state}
		for i, pc := range g.Stack {
			if i > 0 {
				pc--
			}
			for _, f := range p.bin.Frames(nil, pc-p.bias) {
				if shownInTraceback(f) {
					key = append(key, fmt.Sprintf("%s %s:%d", f.Func, f.File, f.Line))
				}
			}
		}
		if by := p.bin.Frames(nil, g.Creator-1-p.bias); len(by) > 0 {
			key = append(key, fmt.Sprintf("created by %s %s:%d", by[len(by)-1].Func, by[0].File, by[0].Line))
		}
		all[strings.Join(key, "\n  ")] += g.Count
	}
	return withoutMain(all)
}

// shownInTraceback is the rule of runtime/traceback.go, showfuncinfo: the
// runtime's own calls are left out.
func shownInTraceback(f gobin.Frame) bool {
	name, own := strings.CutPrefix(f.Func, "runtime.")
	return !own || unicode.IsUpper(rune(name[0]))
}

func TestGoroutinesAreThoseOfATraceback(t *testing.T) {
	for _, b := range matrix() {
		t.Run(b.String(), func(t *testing.T) {
			p := start(t, b)
			p.ask("goroutines 30")
			said, seen := p.saidGoroutines(), p.seenGoroutines()
			for tries := 0; tries < 5 && !maps.Equal(said, seen); tries++ { // the program may still be at work
				said, seen = p.saidGoroutines(), p.seenGoroutines()
			}
			if !maps.Equal(said, seen) {
				t.Errorf("the program says\n%s\nread was\n%s", show(said, seen), show(seen, said))
			}
			if len(said) < 11 {
				t.Errorf("only %d kinds of goroutines", len(said))
			}
		})
	}
}

// show lists what the other does not have.
func show(all, other map[string]int) string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if all[key] != other[key] {
			out = append(out, fmt.Sprintf("%d x %s", all[key], key))
		}
	}
	return strings.Join(out, "\n")
}

func TestPreemptedGoroutinesAreUnwoundToTheInterruptedLine(t *testing.T) {
	for _, b := range builds() {
		t.Run(b.String(), func(t *testing.T) {
			p := start(t, b)
			p.ask("spin 3")
			if err := p.hold(); err != nil {
				t.Fatal(err)
			}
			groups, err := p.stats.Goroutines()
			if err != nil {
				t.Fatal(err)
			}
			spinning := 0
			for _, g := range groups {
				if g.State == "runnable" && p.names(g, "main.spin") {
					spinning += g.Count
				}
			}
			if spinning < 2 {
				t.Errorf("%d of 3 goroutines for one P are shown in main.spin: %+v", spinning, groups)
			}
		})
	}
}

func TestStacksOfABusyProgramAreWhole(t *testing.T) {
	for _, b := range builds() {
		t.Run(b.String(), func(t *testing.T) {
			p := start(t, b)
			p.ask("churn 20")
			whole := 0
			for range 100 {
				groups, err := p.stats.Goroutines()
				if err != nil {
					t.Fatal(err)
				}
				for _, g := range groups {
					if g.State == "copystack" || len(g.Stack) == 0 {
						continue
					}
					if !p.names(g, "runtime.goexit") {
						t.Errorf("a stack without its end: %+v", g)
					}
					whole++
				}
			}
			if whole < 100 {
				t.Errorf("only %d stacks in 100 readings", whole)
			}
		})
	}
}

// names says whether a group's stack has the function.
func (p *target) names(g sample.GoroutineGroup, name string) bool {
	for i, pc := range g.Stack {
		if i > 0 {
			pc--
		}
		for _, f := range p.bin.Frames(nil, pc-p.bias) {
			if f.Func == name {
				return true
			}
		}
	}
	return false
}

func TestWaitingGoroutinesSayForHowLongAndHowLargeTheirStacksAre(t *testing.T) {
	p := start(t, newest)
	p.ask("goroutines 100")
	p.ask("gc") // which is when the runtime notes since when they wait
	groups, err := p.stats.Goroutines()
	if err != nil {
		t.Fatal(err)
	}
	if g := groups[0]; g.Count != 100 || g.StackBytes < 100*2048 || g.StackBytes > 100*8192 || g.Oldest <= 0 {
		t.Errorf("the largest group is %+v", g)
		for _, g := range groups[1:] {
			t.Logf("%+v", g)
		}
	}
	var inGroups, counted int
	for range 1000 { // a finalizer of the program may still run
		if inGroups, counted = p.countGoroutines(); inGroups == counted {
			break
		}
		runtime.Gosched()
	}
	if inGroups != counted {
		t.Errorf("%d goroutines in groups, %d by the counters", inGroups, counted)
	}
}

func (p *target) countGoroutines() (inGroups, counted int) {
	p.t.Helper()
	groups, err := p.stats.Goroutines()
	if err != nil {
		p.t.Fatal(err)
	}
	var rt sample.Runtime
	if err := p.stats.Counters(&rt); err != nil {
		p.t.Fatal(err)
	}
	for _, g := range groups {
		inGroups += g.Count
	}
	return inGroups, rt.Goroutines
}

func TestGoroutinesCarryTheirProfilerLabels(t *testing.T) {
	for _, b := range builds() {
		t.Run(b.String(), func(t *testing.T) {
			p := start(t, b)
			p.ask("labels 7")
			groups, err := p.stats.Goroutines()
			if err != nil {
				t.Fatal(err)
			}
			want := []sample.LabelCount{
				{Key: "route", Value: "/orders", Count: 7},
				{Key: "tenant", Value: "0", Count: 3}, {Key: "tenant", Value: "1", Count: 2}, {Key: "tenant", Value: "2", Count: 2},
			}
			if g := groups[0]; g.Count != 7 || !slices.Equal(g.Labels, want) {
				t.Errorf("the largest group is %+v", g)
			}
		})
	}
}

func TestFramesSumToTheUsedPartOfTheStack(t *testing.T) {
	for _, b := range builds() {
		t.Run(b.String(), func(t *testing.T) {
			p := start(t, b)
			p.ask("goroutines 50")
			all, err := p.runtime.ReadGoroutines()
			if err != nil {
				t.Fatal(err)
			}
			used := make(map[sample.Bytes]bool) // from sp to the top, which newproc leaves 4 words of
			for _, g := range all {
				for slack := range uint64(6) {
					used[sample.Bytes(g.Hi-g.SP-8*slack)] = true
				}
			}
			groups, err := p.stats.Goroutines()
			if err != nil {
				t.Fatal(err)
			}
			for _, g := range groups {
				var sum sample.Bytes
				for _, n := range g.Frames {
					sum += n
				}
				if g.State == "waiting" && !used[sum] {
					t.Errorf("the frames of %v take %d bytes", g.Stack, sum)
				}
			}
		})
	}
}
