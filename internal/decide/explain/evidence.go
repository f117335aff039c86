package explain

import (
	"time"

	"github.com/highwater-go/highwater/internal/measure/pacer"
	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// Evidence is what a recording says, in the form that rules read: nothing in it
// needs the recording any more. Load fills it; tests write it by hand.
type Evidence struct {
	Recording string // the file's base name
	// Command is the program as it was run, Load and Ready what --load and --ready
	// said; secrets are replaced. Empty: not known.
	Command     []string
	Load, Ready string
	// Place is the container and the pod that it ran in; "": none that is known.
	Place string
	Start time.Time
	// Imported says what the recording was made of where highwater did not watch:
	// "profiles", "url", "gctrace" or "core". Start is then when its evidence
	// begins, not the program's start.
	Imported string
	// Watched means that the program ran already when its watch began, which is Start.
	Watched bool
	End     time.Time // the last sample

	Programs []sample.Program // in the order they were first seen; an exec adds one
	Events   []sample.Event   // by time
	Gaps     []sample.Gap
	// Released is when a process that was held at its end for its last reading could go: its exit in Events is
	// when it was held.
	Released map[sample.ProcessKey]time.Time

	// Ticks are the samples of the whole run; the columns of one process are the
	// subject's.
	Ticks Ticks
	// Cycles are the subject's collections, Held what its heap profiles say was in
	// use where no collection is known.
	Cycles []sample.GCCycle
	Held   []Held

	// At is the moment asked for ("kill", "peak", "last" or "time"), Moment what
	// was kept then. Processes that the moment did not hold are in it as the last
	// sample before it saw them: without Residency.
	At     string
	Moment sample.Moment
	// Of is the process that was asked for, zero where none was.
	Of sample.ProcessKey
	// Hard is the most of the charge in any moment that the kernel could not have
	// taken back: of a long recording the ticks leave most samples out.
	Hard sample.Bytes
	// Subject is the process that the answer is about.
	Subject sample.ProcessKey
	// Peak is the kernel's own mark of the greatest charge, where it rose during
	// the recording.
	Peak sample.Opt[sample.Bytes]

	// Sites are the subject's allocation lines at the moment, most bytes first;
	// SiteView is "live" where a mark counted them, "captured" where a capture of the heap near the
	// moment did, "published" where they are the
	// profile's, "none" where there was no profile.
	Sites    []Site
	SiteView string
	Rate     int64 // bytes per sample; 0: not known
	// Alone means that no other profile of imported evidence says how much the lines grew.
	Alone bool
	// Crash is where the program panicked or met a fatal error; nil: it did not, or that was not
	// read.
	Crash *Crash
	// LastMark is what a mark found live at the program's end; zero: none was made.
	LastMark Held
	// Captures are the live heap as captures of the heap found it, by time.
	Captures []Captured
	// Allocators are the lines that allocated most from the start to the end, or to
	// the kill, live or not, most bytes first.
	Allocators []Allocator
	// Half is the program's own line under which at least half of all bytes were
	// allocated, by itself and by what it calls: of several the one with the fewest.
	// nil: there is none.
	Half *Allocator
	// Heap is the capture of the subject's heap nearest to the moment; nil: none.
	Heap *sample.HeapCapture
	// Stood is the subject's goroutines as they were last read before the moment, nil: they were not. StoodAt is when that was.
	Stood   []sample.GoroutineGroup
	StoodAt time.Time
	// Numbered are looks before the moment at the subject's goroutines of which numbers are known.
	Numbered []lookAtIDs
	// Probed is what the program itself answered: its metrics and its replies to a probe.
	Probed ProbeResults
	// History is what predictions are made from; nil: no sample of the collector was read.
	History *pacer.History
	// Mallocs is what C's malloc said of itself in the subject at its moments, by time.
	Mallocs []recording.MallocAt
	// Files are the looks at files behind page cache and shared memory, by time.
	Files []recording.FilesAt
	// Tried are the changes that were run for real.
	Tried []recording.Tried
	// Resident is what made the subject's resident memory grow until the moment, by stack; nil: its
	// page faults were not sampled.
	Resident []sample.ResidentGrowth
	// NativeLive is what C's allocator had given to the subject and not got back at the moment, by stack, and
	// NativeHalf that half-way between the first look and the moment; NativeReadings are the looks. nil: it was not probed.
	NativeLive, NativeHalf []sample.NativeLive
	NativeReadings         []sample.NativeReading
	// Spans are the processes' anonymous memory in the last half of their lives to
	// the moment.
	Spans map[sample.ProcessKey]Span
}

// Span is the range that a figure was in for some time, and the seconds of CPU time that the process
// was seen to use in all of its life.
type Span struct {
	Low, High sample.Bytes
	Seconds   float64
	CPU       float64
}

// grew reports whether the figure rose or fell by a quarter, and by 4 MiB.
func (s Span) grew() bool { return s.High > s.Low+max(s.High/4, 4*sample.MiB) }

// Allocator is a line that allocates much, whatever becomes of it. Amounts are
// scaled.
type Allocator struct {
	sample.Place
	Own     bool         // the program's own code
	Bytes   sample.Bytes // allocated in all
	Objects int64        // so many, scaled from samples
	Since   sample.Bytes // at the moment: since the last published collection
	Garbage sample.Bytes // at the moment: dead and not yet swept; 0 without a mark
	Share   float64      // of all that the profile saw allocated
	Largest sample.Bytes // the largest object that it allocated, live or not
	Stack   []sample.Frame
}

// Ticks are columns over time, of equal length. An element that was not seen is
// NaN. Amounts are bytes.
type Ticks struct {
	// Unchanged counts the looks before an element that saw nothing new and are no elements
	// of their own: a long step to it is a rest then. nil: not known.
	Unchanged  []float64
	Picked     bool      // elements were taken evenly from many more
	At         []float64 // seconds since Evidence.Start
	Usage      []float64 // the cgroup's charge
	PageCache  []float64
	Shmem      []float64
	Anon       []float64 // anonymous memory of all processes
	Available  []float64 // what the machine had left
	HeapLive   []float64 // subject: an upper bound of what was live
	HeapAlloc  []float64 // subject: heap in use, live and not yet swept
	Native     []float64 // subject: anonymous memory beyond what the Go runtime holds, 0 at least
	Goroutines []float64 // subject

	// Counters of the cgroup: charges that met the limit, page faults that needed
	// the disk, pages read again soon after they were taken, and the seconds in
	// which all tasks waited for memory.
	AtLimit, Faults, Refaults, Stalled []float64
	// Counters of the subject: bytes allocated, seconds of CPU time, and seconds
	// that the collector took of it, as the runtime books them (wall time, so that
	// on a busy machine they are too many).
	Alloc, CPU, GC []float64
}

// Held is what one published profile says, scaled.
type Held struct {
	At           float64 // seconds since Evidence.Start
	InUse, Alloc sample.Bytes
}

// Captured is what one capture of the heap found live, and by which lines it was allocated: the 40
// with most, scaled. Lines is nil where that is not known.
type Captured struct {
	At      float64 // seconds since Evidence.Start
	InUse   sample.Bytes
	Lines   []sample.HeapSite
	Holders []CapturedHolder
	// Channels are by what they are called, all that have one name as one.
	Channels map[string]CapturedChannels
	Ended    bool // the program had ended by itself: main had returned, and what it held is out of reach
}

// CapturedChannels is channels of one name in a capture: so many, and their elements.
type CapturedChannels struct{ Count, Entries uint64 }

// CapturedHolder is what retained memory in a capture.
type CapturedHolder struct {
	Entries  uint64 // 0: not known, or no collection
	Retained sample.Bytes
	Sites    []sample.HeapSite // that allocated it
	Name     string            // of what keeps it, "" where it has none
	Taken    bool              // items were taken from its front
}

// of is how much of it a line allocated; ok is false where that is not known. A capture has one figure for a helper, of
// which the caller that is a line of its own has all but what the helper's line holds for others.
func (k *Captured) of(s *Site) (n sample.Bytes, ok bool) {
	for _, l := range k.Lines {
		switch {
		case l.At.Line == s.Line && l.At.Func == s.Function || l.At == s.innermost:
			n += l.Bytes
		case l.At.Line == s.helper.Line && l.At.Func == s.helper.Func && l.At.Func != "":
			n += l.Bytes.Sub(s.others)
		}
	}
	return n, k.Lines != nil && !s.helps
}

// Site is one allocation line, the program's own where there is one on the
// stack, with the sizes of all objects allocated under it. Amounts are scaled.
type Site struct {
	sample.Place
	Own bool // the program's own code
	// Bytes is what was held, Error one standard error of it.
	Bytes, Error sample.Bytes
	// Growth is Bytes less what was held at the baseline: the earliest profile,
	// or the floor before the last rise.
	Growth int64
	// GrownObjects is the same in objects.
	GrownObjects int64
	// Allocated and Freed are of the whole run, as far as collections have
	// published them; Since is what was allocated after.
	Allocated, Freed, Since sample.Bytes
	// Captured is what a capture of the heap near the moment found of it, in the holders that it names;
	// newCase fills it in.
	Captured sample.Opt[sample.Bytes]
	// Gone is how much of what it holds was certainly gone at a later collection, which found less live in the
	// whole heap; newCase fills it in. 0 where that is the smaller part.
	Gone sample.Bytes
	// FreedOfHeld is the part of what the line's stacks allocated that was freed, each stack
	// weighted by what it still holds.
	FreedOfHeld sample.Opt[float64]
	// Samples is the number of sampled objects held, Objects what they stand for.
	// Largest is the size of the largest of them, AsLarge how many have it.
	Samples, Objects uint64
	Largest          sample.Bytes
	AsLarge          uint64
	// Cycle is the collection that the profile was published at; Marked says that a mark or a capture of the heap counted
	// Bytes at the moment instead.
	Cycle  uint32
	Marked bool
	// Stack is the greatest stack of the line, innermost first; all of it, the
	// library's and the runtime's frames too.
	Stack []sample.Frame
	// innermost is the line that the profile's sites were grouped by; Function, File
	// and Line differ where only a library's code is on the stack.
	innermost sample.Frame
	// helper is the line that this one called, where that allocates for others of the program, too.
	// others is what helper holds for others, and helps says of its own line that another is apart.
	helper sample.Frame
	others sample.Bytes
	helps  bool
	// Callers are, of the blamed line, its function and the functions that it was
	// called from, innermost first; nil: its function alone. Where a library's
	// goroutine allocates for calls of the program, those come last.
	Callers []Caller
	Awaited *Awaited // nil: it is no such goroutine
	// Parked says that the line was called from the program's own goroutines, of which most are blocked: they are no calls at
	// work, and how they pile up is told of them.
	Parked bool
	// Course is how the line stood at the moments up to this one, by time; nil where it
	// was not read, which is so of all but the lines that may be to blame.
	Course []SiteSnapshot
}

// Caller is a function that a line was called from: of the program or of a
// dependency, but not main.main nor what the goroutine began with, which need
// not ever return.
type Caller struct {
	Function string
	Own      bool         // the program's own code
	Under    sample.Bytes // held of all that was allocated under it
}

func (s *Site) callers() []Caller {
	if len(s.Callers) > 0 {
		return s.Callers
	}
	return []Caller{{s.Function, s.Own, s.Bytes}}
}

// SiteSnapshot is what was known of one line at an earlier moment.
type SiteSnapshot struct {
	At float64 // seconds since Evidence.Start
	// Bytes is what the published profile called in use: it can be two collections
	// old, and dead since. Freed is what was freed of the line until then.
	Bytes, Freed sample.Bytes
	Cycle        uint32
	// Allocated is all that was allocated of the line until then, published or not; 0:
	// not known.
	Allocated sample.Bytes
	// Calls is the number of goroutines seen inside each of the line's callers;
	// Unseen is how many ran, so that their stacks could not be read.
	Calls  []int
	Unseen int
	// Begun is the number of goroutines by the function that they began with, and after begunBy by the
	// one with their go statement.
	Begun map[string]int
	// Inside is the number of goroutines inside each function.
	Inside map[string]int
	// Goroutines means that they were read at all.
	Goroutines bool
	// Made is the number of goroutines that the program had made by then, 0: not known
	// (before Go 1.26).
	Made float64
}

// calls is how many goroutines stood inside a caller of the line.
func (s SiteSnapshot) calls(caller int) int {
	if caller < len(s.Calls) {
		return s.Calls[caller]
	}
	return 0
}

// program is what the process ran, its last exec where it had several.
func (e *Evidence) program(key sample.ProcessKey) *sample.Program {
	for i := len(e.Programs) - 1; i >= 0; i-- {
		if e.Programs[i].Key == key {
			return &e.Programs[i]
		}
	}
	return nil
}

// isGo says of a program that it is Go's, or may be: it could not be looked at.
func (e *Evidence) isGo(key sample.ProcessKey) bool {
	p := e.program(key)
	return p != nil && (p.Go != nil || isClosed(p))
}

// besideRow is the row of a process that only shares the cgroup, "" of one that is
// watched.
func (e *Evidence) besideRow(key sample.ProcessKey) string {
	switch p := e.program(key); {
	case p == nil:
		return ""
	case p.WhyNot == sample.WhyWatcher:
		return sample.RowWatcher
	case p.WhyNot == sample.WhyBeside:
		return sample.RowOther
	}
	return ""
}

// divide makes the ledger of a moment. What only shares the cgroup is not divided.
func (e *Evidence) divide(m sample.Moment) sample.Ledger {
	beside := map[string]sample.Bytes{}
	all := m.Processes
	m.Processes = nil
	for _, p := range all {
		if row := e.besideRow(p.Key); row != "" {
			beside[row] += anonOf(p)
		} else {
			m.Processes = append(m.Processes, p)
		}
	}
	return divide(m, beside, e.isGo)
}

// process is the subject within the moment, nil if it is not in it.
func (e *Evidence) process() *sample.ProcessMoment {
	for i := range e.Moment.Processes {
		if e.Moment.Processes[i].Key == e.Subject {
			return &e.Moment.Processes[i]
		}
	}
	return nil
}

// seconds is a time of the recording in seconds since its start.
func (e *Evidence) seconds(t time.Time) float64 { return t.Sub(e.Start).Seconds() }

// limit is the cgroup's limit at the moment.
func (e *Evidence) limit() (sample.Bytes, bool) {
	if e.Moment.Cgroup == nil {
		return 0, false
	}
	return e.Moment.Cgroup.Limit.V, e.Moment.Cgroup.Limit.OK
}
