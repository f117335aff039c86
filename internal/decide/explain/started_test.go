package explain

import (
	"math"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// inLibrary are goroutines that wait in a module, which started them in a function that a line of the program calls.
func inLibrary() *scene {
	s := workScenes["thousands of goroutines that never end"]()
	const subscribe = "example.net/bus%2ego.(*Conn).subscribe"
	s.Sites = nil
	s.site("example.org/shop/push.ask", "/build/shop/push/push.go", 40, 130, 0)
	g := &s.p.Goroutines[len(s.p.Goroutines)-1]
	g.Where[1].Frames[0] = sample.Frame{Func: "example.net/bus%2ego.(*Conn).wait", File: "example.net/bus.go/bus.go", Line: 311}
	g.CreatedAt = sample.Location{Frames: []sample.Frame{{Func: subscribe + ".func1", File: "example.net/bus.go/bus.go", Line: 436}}}
	s.Allocators = nil
	s.allocator("example.org/shop/push.send", "/build/shop/push/push.go", 70, 900, 0.5, "runtime.mallocgc", "example.net/bus%2ego.(*Conn).Publish")
	s.allocator("example.org/shop/push.ask", "/build/shop/push/push.go", 42, 2, 0.001, "runtime.mallocgc", subscribe, "example.net/bus%2ego.(*Conn).Subscribe")
	s.allocator("example.org/shop/push.ask", "/build/shop/push/push.go", 40, 300, 0.2, "runtime.mallocgc")
	return s
}

// What starts goroutines in a module is the line whose stacks go through the module's go statement, before any that
// calls the module for something else.
func TestGoroutinesOfAModuleAreBlamedOnTheLineThatHasThemStarted(t *testing.T) {
	s := inLibrary()
	a, err := Explain(s.Evidence, nil)
	if err != nil || a.Verdict.Class != Goroutines || a.Verdict.Culprit.Line != 42 {
		t.Fatalf("%v: %s, %+v", err, a.Verdict.Class, a.Verdict.Culprit)
	}
	if why := a.Verdict.Why[0].Text; !strings.Contains(why, "in bus.go.(*Conn).subscribe.func1; push/push.go:42 calls the function that starts them") {
		t.Error(why)
	}
	s = inLibrary() // where no such stack was sampled, whoever calls the package most
	s.Allocators = append(s.Allocators[:1], s.Allocators[2])
	if a, err = Explain(s.Evidence, nil); err != nil || a.Verdict.Culprit.Line != 70 {
		t.Errorf("%v: %+v", err, a.Verdict.Culprit)
	}
	if why := a.Verdict.Why[0].Text; !strings.Contains(why, "push/push.go:70 calls the package that starts them") {
		t.Error(why)
	}
	s.Allocators[0].Objects = 2 // which opened the connection; thousands of goroutines are not its
	if a, err = Explain(s.Evidence, nil); err != nil || a.Verdict.Culprit.Line != 311 {
		t.Errorf("%v: %+v", err, a.Verdict.Culprit)
	}
	// but the closure that each of them leads to is
	s.Heap = &sample.HeapCapture{Callbacks: []sample.HeapCallback{{Func: "example.net/bus%2ego.(*Conn).wait", Count: 400,
		Creator: "example.net/bus%2ego.(*Conn).subscribe.func1",
		Closure: sample.Frame{Func: "example.org/shop/push.ask.func2", File: "/build/shop/push/push.go", Line: 44}}}}
	if a, err = Explain(s.Evidence, nil); err != nil || a.Verdict.Culprit.Line != 44 {
		t.Errorf("%v: %+v", err, a.Verdict.Culprit)
	}
	s = inLibrary() // and the module's own line where nothing is known
	s.Allocators = s.Allocators[2:]
	if a, err = Explain(s.Evidence, nil); err != nil || a.Verdict.Culprit.Line != 311 {
		t.Errorf("%v: %+v", err, a.Verdict.Culprit)
	}
}

// What is well known of a go statement is said of the goroutines that it starts, whoever is blamed for them.
func TestWhatStartsGoroutinesIsTheirWellKnownCause(t *testing.T) {
	for made, want := range map[string]string{
		"github.com/nats-io/nats%2ego.(*Conn).subscribeLocked": "nats-subscription",
		"google.golang.org/grpc.newClientStreamWithParams":     "grpc-stream",
		"github.com/redis/go-redis/v9.(*channel).initMsgChan":  "redis-subscription",
		"github.com/fsnotify/fsnotify.newBackend":              "watcher-not-closed",
		"database/sql.OpenDB":                                  "database-not-closed",
		"net/http.(*Transport).dialConn":                       "body-not-closed",
		"context.(*cancelCtx).propagateCancel":                 "context-not-cancelled",
		"github.com/klauspost/compress/zstd.NewWriter":         "decoder-not-closed",
		"example.net/bus%2ego.(*Conn).subscribe":               "",
	} {
		s := inLibrary()
		s.p.Goroutines[len(s.p.Goroutines)-1].CreatedAt.Frames[0].Func = made
		a, err := Explain(s.Evidence, nil)
		if err != nil || a.Verdict.Class != Goroutines {
			t.Errorf("%s: %v: %s", made, err, a.Verdict.Class)
		}
		got, said := "", ""
		for _, w := range a.Verdict.Why {
			said += w.Text + w.URL
		}
		if want != "" {
			got = causeNamed(want).URL
		}
		if want != "" && !strings.Contains(said, got) || want == "" && strings.Contains(said, "https://") {
			t.Errorf("%s: want %q of %s", made, got, said)
		}
	}
}

// The pages that one line wrote first and freed malloc gives to another without a page fault: where several lines write,
// the line that wrote most is not sure. Memory that is mapped, or that one line wrote, has one owner.
func TestMemoryOfASharedMallocIsNotSurelyOfWhoWroteItFirst(t *testing.T) {
	for _, k := range []struct {
		others, malloc, mapped float64
		want                   Confidence
	}{{88, 300, 2, Medium}, {88, 2, 300, High}, {8, 300, 2, High}} {
		s := newScene()
		s.p.Residency.CMalloc, s.p.Residency.Mmap = bytesOf(k.malloc), bytesOf(k.mapped)
		c := newCase(s.Evidence)
		total := bytesOf(302)
		r := &Resident{SeenBytes: total, RowBytes: total, TotalBytes: total, ErrorBytes: 8 * mib, Samples: 1283, Lines: []ResidentLine{
			{Place: sample.Place{Function: "main.end", File: "/build/up/main.go", Line: 94}, OwnCode: true, Bytes: total.Sub(bytesOf(k.others)), Samples: 900}}}
		f := Finding{Confidence: High}
		if c.blameResident(&f, r); f.Confidence != k.want {
			t.Errorf("%.0f MiB of other lines, %.0f of malloc: %s because %q", k.others, k.malloc, f.Confidence, f.Because)
		}
	}
}

// Memory that goes up and down by more than it gains has not grown.
func TestNativeMemoryThatFallsByMoreThanItGainsDoesNotGrow(t *testing.T) {
	for swing, want := range map[float64]bool{0.5: true, 6: false} {
		s := newScene()
		s.charge()
		for i := range s.Ticks.Native {
			s.Ticks.Native[i] = (10 + 0.2*float64(i) + swing*math.Abs(math.Sin(float64(i)))) * float64(mib)
			s.Ticks.Anon[i], s.Ticks.Usage[i] = s.Ticks.Native[i], s.Ticks.Native[i]
		}
		c := newCase(s.Evidence)
		if grown, ok := c.growsBeside(c.Ticks.Native); ok != want {
			t.Errorf("a swing of %.1f MiB: grew by %.1f MiB, %v", swing, grown/float64(mib), ok)
		}
	}
}
