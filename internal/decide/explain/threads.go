package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/highwater-go/highwater/internal/measure/heapdiff"
	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// threadsAfter takes the subject's threads from the last moment whose memory is within a fiftieth of the peak's, where
// there are more of them then. The last threads of many add so little that their moment may be that of the program's end
// alone, which comes after moments of its life (peakMoment); their stacks are there until then.
func (l *loader) threadsAfter() error {
	p := l.e.process()
	if l.e.At != "peak" || p == nil || p.Resident == nil || len(p.ThreadStarts) == 0 {
		return nil
	}
	peak := l.moments[l.chosen]
	for _, m := range slices.Backward(l.moments[l.chosen+1:]) {
		if !nearPeak(m, peak) {
			continue
		}
		later, err := l.Moment(m.ID)
		if err != nil {
			return err
		}
		for _, q := range later.Processes {
			if q.Key == l.e.Subject && q.Resident != nil && threadsIn(q.ThreadStarts) > threadsIn(p.ThreadStarts) && q.Resident.Threads >= p.Resident.Threads {
				resident := *p.Resident
				resident.Threads = q.Resident.Threads
				p.Resident, p.ThreadStarts = &resident, q.ThreadStarts
			}
		}
		return nil
	}
	return nil
}

// nearPeak reports whether a moment's memory is within a fiftieth of that at the peak.
func nearPeak(m, peak recording.MomentInfo) bool {
	is, was := needOf(m), needOf(peak)
	if !m.Usage.OK {
		is, was = anonOfAll(m), anonOfAll(peak)
	}
	return m.Usage.OK == peak.Usage.OK && max(is, was)-min(is, was) <= was/50
}

func threadsIn(starts []sample.ThreadStart) (n int) {
	for _, t := range starts {
		n += t.Count
	}
	return n
}

// ownThreads are the threads that C code made for itself, by the function that most of them run; n is
// how many they are. Where the symbols of C are gone, Go's own threads have no name either: each goroutine that is in a
// call has one.
func (c *Case) ownThreads() (most sample.ThreadStart, n int) {
	if c.proc == nil {
		return most, 0
	}
	gos := 0
	for _, g := range goroutinesNear(c.proc.Goroutines, c.Stood) {
		if g.State == "syscall" {
			gos += g.Count
		}
	}
	for _, t := range c.proc.ThreadStarts {
		if t.Go {
			gos -= t.Count
		}
	}
	for _, t := range c.proc.ThreadStarts {
		if t.Go {
			continue
		}
		if t.Func == "" {
			of := min(t.Count, max(0, gos))
			t.Count, gos = t.Count-of, gos-of
		}
		n += t.Count
		if t.Count > most.Count {
			most = t
		}
	}
	return most, n
}

// goroutinesNear are the goroutines of the moment or, where fewer of them were read, those of the look before.
func goroutinesNear(now, before []sample.GoroutineGroup) []sample.GoroutineGroup {
	if goroutinesOf(now) < goroutinesOf(before) {
		return before
	}
	return now
}

// startWords name a function that threads run.
func startWords(t sample.ThreadStart) string {
	switch {
	case t.Func != "" && t.Module != "":
		return fmt.Sprintf("%s (%s)", t.Func, t.Module)
	case t.Module != "":
		return "a function of " + t.Module
	}
	return "a function without a name"
}

// threadsOfC reports whether C code made most of the subject's threads, and these are very many.
func (c *Case) threadsOfC() bool {
	_, n := c.ownThreads()
	return c.threads() >= threadStacks.v() && float64(n)*2 > c.threads()
}

// threadsOfCFound names the function that they run, and the line that had them made where page faults tell.
func threadsOfCFound(c *Case, facts []Fact) Finding {
	most, n := c.ownThreads()
	f := Finding{Stance: Speaks, Bytes: c.own.Row(sample.RowNative) + c.ledger.Row(sample.RowKernel), Facts: append(facts, c.factThreads()), Confidence: High,
		Because: []string{fmt.Sprintf("the process had %s OS threads, and each says what it was made for", thousands(c.threads()))}}
	f.Sentence = fmt.Sprintf("C code made %s of the %s OS threads%s: %s run %s. Their kernel stacks use %s.", thousands(float64(n)),
		thousands(c.threads()), c.of(),
		thousands(float64(most.Count)), startWords(most), size(sample.Bytes(n)*kernelStack))
	f.Detail = "Too many OS threads."
	f.Why = []Why{{Text: "each thread has a kernel stack, page tables and a stack of C until it ends", Evidence: []string{"threads"}}}
	if at, samples := c.threadMaker(); samples > 0 {
		f.Culprit = &Culprit{Place: at.Place(), Bytes: f.Bytes, Role: "native"}
		f.Why = append(f.Why, Why{Text: fmt.Sprintf("they were made at %s (%s of page faults)", place(at.File, at.Line), count(samples, "sample")),
			Evidence: []string{"threads"}})
	}
	return f
}

// threadMaker is the line of Go below which most threads were made, by page faults: who makes a thread is the
// first to write its stack.
func (c *Case) threadMaker() (maker sample.Frame, samples int) {
	by := map[sample.Frame]int{}
	for _, g := range c.Resident {
		at := touchedAt(g.Where, c.module(), nil)
		if at.Line == 0 || !makesThread(g.Where) || heapdiff.OwnerOf(at.Func, c.module()) != heapdiff.Own {
			continue
		}
		by[at] += int(g.Samples)
		if n := by[at]; n > samples || n == samples && at.Line < maker.Line {
			maker, samples = at, n
		}
	}
	return maker, samples
}

// makesThread reports whether a function on the stack makes threads (POSIX; C11's and C++'s call it).
func makesThread(where []sample.Location) bool {
	return slices.ContainsFunc(where, func(l sample.Location) bool {
		return slices.ContainsFunc(l.Frames, func(f sample.Frame) bool {
			name, _, _ := strings.Cut(f.Func, "@")
			return name == "pthread_create" || strings.HasPrefix(name, "__pthread_create")
		})
	})
}

// stackWords says what the stacks of goroutines take: as much as the table has, or what Go reserved for
// them and how much of that was written.
func (c *Case) stackWords(reserved sample.Bytes) string {
	if written := c.own.Row(sample.RowStacks); written > 0 && reserved > written/10*11 {
		return fmt.Sprintf("Go reserved %s for the goroutines' stacks, and %s of that was written.", size(reserved), size(written))
	}
	return fmt.Sprintf("The goroutines' stacks use %s.", size(reserved))
}
