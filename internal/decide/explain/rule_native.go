package explain

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/highwater-go/highwater/internal/measure/heapdiff"
	"github.com/highwater-go/highwater/internal/measure/series"
	"github.com/highwater-go/highwater/internal/words/sample"
)

var nativePage = Page{
	Truth: "Memory outside Go: allocated by C, or mapped by the program itself.",
	Looks: []string{
		"Resident pages outside Go's arenas. Where pages were not read, resident memory minus what the Go runtime counts.",
		"The growth of this memory since the first sample, and whether it was freed again.",
		"Sampled page faults, where rights allow: the Go line that touched each page first, through calls of C.",
		"With --native=live, C's allocator itself: which line asked for the blocks that are not freed.",
		"Without these two, the goroutines that were in C code: only a hint at the caller.",
	},
	Blind: []string{
		"Who allocated native memory, if page faults were not sampled: C keeps no record, and no Go profile contains it.",
		"What retains it now: page faults say which line wrote it first.",
		"How much freed memory an allocator other than glibc's keeps.",
		"A Go program whose runtime could not be read: heap and native memory cannot be told apart there.",
	},
	Example: "cgo leak",
}

// judgeNative speaks where anonymous memory outside Go's arenas is the greatest part of the charge and of its growth. A
// program in another language counts as native.
func judgeNative(c *Case) Finding {
	native, heap := sum(c.ledger, sample.RowNative, sample.RowOther), heapRows(c.ledger)
	hard := c.ledger.Total.Sub(c.ledger.Row(sample.RowPageCache))
	facts := []Fact{c.factNative(), c.factLedger()}
	if whole := c.ledger.Row(sample.RowUndivided); whole*2 > hard {
		return undecided(float64(whole), "how much of the memory is native: the Go runtime was not read", c.factLedger())
	}
	switch {
	case c.notInUse(native) != "":
		return silent(c.notInUse(native), facts...)
	case (native < heap || native*100 < hard*35) && !c.nativeGrows():
		return silent(fmt.Sprintf("native memory was %s, the Go heap %s", size(native), size(heap)), facts...)
	case float64(native) < nativeCaches.v() && (float64(native) < leastGrown.v() || !c.nativeGrows()):
		return silent(fmt.Sprintf("native memory was %s", size(native)), facts...)
	}
	grown, known := c.nativeGrowth()
	if known && grown < float64(native)/4 && !c.outcome.Kernel {
		return silent(fmt.Sprintf("native memory did not grow (%s)", size(native)), facts...)
	}
	if c.nativeIsCalm(grown) {
		return silent("memory usage stayed well below the limit", facts...)
	}
	return nativeFound(c, native, grown, known, facts)
}

// nativeIsCalm reports whether nothing was near a limit, and what native memory grew by is little or had come to its height.
func (c *Case) nativeIsCalm(grown float64) bool {
	return !c.pressed && (grown < float64(64*sample.MiB) && !c.nativeGrows() || c.nativeRests())
}

// notInUse says what the native memory is where most of it is not in use by C code; "": it is.
func (c *Case) notInUse(native sample.Bytes) string {
	if kept := c.keptFreed(); kept*2 > c.nativeRead() {
		return fmt.Sprintf("C code had only %s of the %s in use", size(native-kept), size(native))
	}
	if c.threadsFill(native) {
		return fmt.Sprintf("the memory is the stacks of %.0f threads", c.threads())
	}
	return ""
}

// nativeGrows reports whether memory outside Go grew steadily. A rise of a few seconds is how caches of C
// code fill: it must come to more than those, or fill a part of the limit.
func (c *Case) nativeGrows() bool {
	grown, ok := c.growsBeside(c.Ticks.Native)
	long := c.outcome.MomentElapsed*(1-warmUp.v()) >= longRise.v()
	if !long && grown < nativeCaches.v() && !(c.limit > 0 && grown >= leastGrownOfLimit.v()*float64(c.limit)) {
		return false
	}
	_, v := c.untilMoment(c.Ticks.Native)
	return ok && grown >= leastGrown.v() && c.nativeWaves(sample.Bytes(v[len(v)-1])) == 0
}

// nativeRests reports whether memory outside Go had come to its height before the last quarter of the run, as that of
// a cache which maps its bound.
func (c *Case) nativeRests() bool {
	at, v := c.until(c.outcome.Elapsed, c.Ticks.Native)
	if len(v) < int(manyReadings.v()) || c.outcome.Elapsed < shortestRise.v() {
		return false
	}
	high, end := v[series.Max(v)], at[len(at)-1]
	even := (high - v[0]) / 4
	since := v[nearestTo(at, end-end/4)]
	return even > 0 && high-since < lateGrowth.v()*even && high-v[len(v)-1] < lateGrowth.v()*high
}

// growsBeside reports whether a part of the memory other than the heap grew steadily until the moment, also
// in the last third of the time, by more than it ever fell back, and makes most of the growth of all of it; grown is by
// how much, after the warm-up.
func (c *Case) growsBeside(column []float64) (grown float64, ok bool) {
	if len(column) != len(c.Ticks.At) {
		return 0, false
	}
	at, v := c.untilMoment(column)
	line := floorsOf(at, v, c.outcome.MomentElapsed)
	if line.N < int(enoughReadings.v()) || !(line.Low > 0) {
		return 0, false
	}
	grown = line.Slope * c.outcome.MomentElapsed * (1 - warmUp.v())
	late := v[len(v)-1]-v[nearestTo(at, c.outcome.MomentElapsed*2/3)] >= lateGrowth.v()*grown/3
	return grown, late && grown > greatestFall(v[nearestTo(at, c.outcome.MomentElapsed*warmUp.v()):]) && line.Slope >= heldByRoot.v()*c.memoryTrend().Slope
}

// greatestFall is how far values fell at most below one that came before.
func greatestFall(v []float64) (fall float64) {
	high := math.Inf(-1)
	for _, x := range v {
		high = max(high, x)
		fall = max(fall, high-x)
	}
	return fall
}

// nativeGrowth is how far the subject's native memory rose above its first sample until the moment, by
// the samples; false where there are none.
func (c *Case) nativeGrowth() (float64, bool) {
	_, v := c.untilMoment(c.Ticks.Native)
	if len(v) == 0 {
		return 0, false
	}
	return v[series.Max(v)] - v[0], true
}

func firstSeen(column []float64) (float64, bool) {
	for _, v := range column {
		if !math.IsNaN(v) {
			return v, true
		}
	}
	return 0, false
}

// nativeSure is how the amount of native memory is known.
func (c *Case) nativeSure(heap, native sample.Bytes) (Confidence, []string) {
	switch {
	case heap >= native:
		return Medium, []string{"the figure is what grew, and is not the largest part of the memory"}
	case c.malloc != nil && isPartial(c.malloc) && (c.keptFreed()+c.malloc.Unread)*2 > native:
		return Medium, []string{fmt.Sprintf("%s of malloc's memory were not read, and may be free: %s", size(c.malloc.Unread), c.malloc.WhyUnread)}
	case c.proc != nil && c.proc.Residency != nil && c.proc.Residency.GoKnown:
		return High, []string{"every page of the process was read"}
	}
	return Medium, []string{"the figure is resident memory minus what the Go runtime counts"}
}

func nativeFound(c *Case, native sample.Bytes, grown float64, known bool, facts []Fact) Finding {
	f := Finding{Stance: Speaks, Bytes: native.Sub(c.keptFreed()), Facts: append(facts, c.mallocFacts()...), Confidence: Medium}
	f.Detail = "Native memory, allocated outside Go (cgo or mmap). pprof cannot see such memory."
	if other, ok := c.otherFills(); ok {
		f.Detail = "Memory of another program, not of the Go heap."
		f.Sentence = fmt.Sprintf("Another program in the same cgroup used most of the memory: %s (pid %d) used %s. The Go heap was %s.",
			other.Name, other.PID, size(other.Bytes), size(heapRows(c.ledger)))
		f.Because = []string{"the kernel counts each process's memory"}
		f.Confidence = High
		if parent := c.parentOf(other.PID); parent != nil {
			f.Why = []Why{{Text: fmt.Sprintf("the process was started by %s (pid %d)", parent.Name, parent.Key.PID), Evidence: []string{"ledger"}}}
		}
		return f
	}
	if !c.isGo(c.Subject) && c.g == nil {
		return otherLanguage(c, f, native)
	}
	verb := "Native memory used " + size(native)
	if known && grown > 0 {
		verb = fmt.Sprintf("Native memory grew from %s to %s", fsize(float64(native)-grown), size(native))
	}
	heap, only := heapRows(c.ledger), ""
	if heap < native {
		only = "only "
	}
	f.Sentence = fmt.Sprintf("%s%s. The Go heap was %s%s.", verb, c.nativeKind(), only, size(heap))
	f.Confidence, f.Because = c.nativeSure(heap, native)
	if peaks := c.nativeWaves(native); peaks > 0 {
		f.Detail = "Native memory that comes and goes, not a leak."
		f.Because = append(f.Because, fmt.Sprintf("native memory had fallen back %s before", times(peaks)))
	}
	why := "C code allocates this memory, or the program maps it. GC does not free it, and GOMEMLIMIT does not count it"
	f.Why = append([]Why{{Text: why, Evidence: []string{"native"}}}, c.sizesWhy()...)
	if c.blameLive(&f, c.nativeLiveOf(shown)) || c.blameResident(&f, c.residentOf()) {
		return f
	}
	var standing int
	f.Culprit, standing = c.cgoCaller()
	if f.Culprit != nil {
		f.Why = append(f.Why, Why{Text: fmt.Sprintf("likely caller (not proven): %s %s in a C call made at %s", count(standing, "goroutine"), was(standing),
			place(f.Culprit.File, f.Culprit.Line)), Evidence: []string{"native"}})
	}
	if k := c.causeOfLibrary(); k != nil {
		f.Why = append(f.Why, Why{Text: "likely cause (not proven), by a library of C that it links: " + k.Why, Evidence: []string{"native"}, URL: k.URL})
	}
	return f
}

// nativeWaves is how often memory outside Go rose by half of what it is now, and
// came back.
func (c *Case) nativeWaves(now sample.Bytes) (n int) {
	_, v := c.untilMoment(c.Ticks.Native)
	for _, w := range series.Waves(v, float64(now)/2) {
		if w.After != series.None {
			n++
		}
	}
	return n
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return sample.Thousands(uint64(max(0, n))) + " times"
}

// otherLanguage is a subject that is no Go program.
func otherLanguage(c *Case, f Finding, native sample.Bytes) Finding {
	f.Sentence = fmt.Sprintf("%s is not a Go program. This program used %s of the %s%s.", c.name(), size(native), size(c.ledger.Total), c.nativeKind())
	f.Detail = "Native memory, whose use cannot be seen from outside."
	f.Confidence, f.Because = High, []string{"the kernel counts each process's memory"}
	return f
}

// nativeKind says whether it is malloc's or mapped, where the pages were read.
func (c *Case) nativeKind() string {
	if c.proc == nil || c.proc.Residency == nil {
		return ""
	}
	switch r := c.proc.Residency; {
	case r.CMalloc > 4*r.Mmap:
		return " (malloc)"
	case r.Mmap > 4*r.CMalloc:
		return " (mmap or large malloc)"
	default:
		return fmt.Sprintf(" (malloc %s, mapped %s)", size(r.CMalloc), size(r.Mmap))
	}
}

// cgoCaller is the line that most goroutines called C from at the moment, of the
// program's own code where one is on the stack: a hint, as C memory carries no
// record of who asked for it.
func (c *Case) cgoCaller() (best *Culprit, most int) {
	if c.proc == nil {
		return nil, 0
	}
	for _, g := range c.proc.Goroutines {
		if f, ok := callerOfC(g.Where, c.module()); ok && g.Count > most {
			most, best = g.Count, &Culprit{Place: f.Place(), Role: "native", Hint: true}
		}
	}
	return best, most
}

// callerOfC is the frame that called a C function: the first of the program's
// own code below cgocall and the wrappers that cgo writes (_Cfunc_NAME); without
// one, the first outside the runtime.
func callerOfC(where []sample.Location, module string) (caller sample.Frame, ok bool) {
	inC := false
	for _, l := range where {
		for _, f := range l.Frames {
			switch {
			case f.Func == "runtime.cgocall" || strings.Contains(f.Func, "._Cfunc_"):
				inC = true
			case !inC || strings.HasPrefix(f.Func, "runtime.") || strings.HasPrefix(f.File, "_cgo"):
			case heapdiff.OwnerOf(f.Func, module) == heapdiff.Own:
				return f, true
			case !ok:
				caller, ok = f, true
			}
		}
	}
	return caller, ok
}

// largestOther is the greatest process that is no Go program.
// otherFills is the largest program that is not Go's, where programs that are not Go's used more than C code of the subject. ok is false where they did not.
func (c *Case) otherFills() (other Process, ok bool) {
	other, ok = c.largestOther()
	return other, ok && c.ledger.Row(sample.RowOther) > c.ledger.Row(sample.RowNative)
}

// parentOf is the program that started a process, nil if it was not seen.
func (c *Case) parentOf(pid int) *sample.Program {
	for i := range c.Programs {
		if c.Programs[i].Key.PID != pid {
			continue
		}
		if k := slices.IndexFunc(c.Programs, func(p sample.Program) bool { return p.Key.PID == c.Programs[i].Parent }); k >= 0 {
			return &c.Programs[k]
		}
	}
	return nil
}

func (c *Case) largestOther() (Process, bool) {
	var best Process
	for _, p := range c.Moment.Processes {
		watcher := c.besideRow(p.Key) == sample.RowWatcher
		if !watcher && !c.isGo(p.Key) && p.Go == nil && anonOf(p) > best.Bytes {
			best = Process{PID: p.Key.PID, Bytes: anonOf(p), Name: "a program"}
			if prog := c.program(p.Key); prog != nil {
				best.Name = prog.Name
			}
		}
	}
	return best, best.PID != 0
}
