package explain

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/highwater-go/highwater/internal/measure/heapdiff"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/sorting"
)

// Resident is who made native memory grow, by the line that touched its pages first: a sampled
// profile of page faults.
type Resident struct {
	Lines  []ResidentLine `json:"lines"`
	Others int            `json:"others"` // lines not listed
	// SeenBytes is what the samples stand for, RowBytes the native memory of the subject at
	// the moment. Lines' bytes are scaled to that where both agree within a tenth.
	SeenBytes  sample.Bytes `json:"seen_bytes"`
	RowBytes   sample.Bytes `json:"row_bytes"`
	TotalBytes sample.Bytes `json:"total_bytes"` // of all lines, scaled
	ErrorBytes sample.Bytes `json:"error_bytes"` // one standard error of that
	Samples    uint64       `json:"samples"`
}

// ResidentLine is one line of it. File and Line are empty for memory that a thread touched
// which C made: Function is C's then.
type ResidentLine struct {
	sample.Place
	OwnCode    bool         `json:"own_code"`
	Bytes      sample.Bytes `json:"bytes"`
	ErrorBytes sample.Bytes `json:"error_bytes"`
	Samples    uint64       `json:"samples"`
	// Native are the C functions below the line in most of its samples, innermost first;
	// empty: none, or not named.
	Native []string `json:"native"`
	// Mapped is whether the line mapped most of this memory itself; WrittenAt is the line that wrote most of it
	// first, as file:line, where that is another: "" else.
	Mapped    bool   `json:"mapped"`
	WrittenAt string `json:"written_at"`
	// StartLine is where the function begins, 0: not known.
	StartLine int `json:"-"`
}

const (
	// residentAgrees is how far the samples' sum may be from the row that they are to explain.
	residentAgrees = 0.1
	// residentSure is from how many samples on a line on its share is sure: an error of a tenth.
	residentSure = 100
	// residentLeast is from how many on a line is named at all.
	residentLeast = 8
	// nativeNamed bounds the C functions that a line names.
	nativeNamed = 3
)

// resident reads what made the subject's memory grow until the moment.
func (l *loader) resident() error {
	list, err := l.Growth(l.e.Moment.At)
	for _, g := range list {
		if g.Process == l.e.Subject {
			l.e.Resident = append(l.e.Resident, g)
		}
	}
	return err
}

// residentOf sums up the growth of native memory by line, nil where it was not sampled.
func (c *Case) residentOf() *Resident {
	r, _ := ResidentOf(c.Resident, sample.ResidentNative, c.own.Row(sample.RowNative), c.module(), shown)
	return r
}

// ResidentOf sums up what made a process's memory of one kind grow, by line: at most so many of
// them. Row is what the kernel counts of that kind, 0 where that is not known. Of says which line
// each of the list belongs to, -1: to none of those that are named. It is nil where the kind was not sampled.
func ResidentOf(list []sample.ResidentGrowth, kind sample.ResidentKind, row sample.Bytes, module string, most int) (r *Resident, of []int) {
	lines, at := residentLines(list, kind, module)
	if len(lines) == 0 {
		return nil, nil
	}
	r = &Resident{RowBytes: row, Lines: []ResidentLine{}}
	for i := range lines {
		r.SeenBytes += lines[i].Bytes
		r.Samples += lines[i].Samples
	}
	scale := 1.0
	if r.agrees() {
		scale = float64(r.RowBytes) / float64(r.SeenBytes)
	}
	place := map[sample.Frame]int{}
	for i := range lines {
		k := &lines[i]
		k.Bytes = sample.Bytes(float64(k.Bytes) * scale)
		k.ErrorBytes = samplingError(k.Bytes, k.Samples)
		r.TotalBytes += k.Bytes
		if k.Samples >= residentLeast && k.Function != "" && len(r.Lines) < most {
			place[k.frame()] = len(r.Lines)
			r.Lines = append(r.Lines, *k)
		}
	}
	r.ErrorBytes = samplingError(r.TotalBytes, r.Samples)
	r.Others = len(lines) - len(r.Lines)
	for i := range list {
		n := -1
		if named, ok := place[at[i]]; ok && list[i].Kind == kind {
			n = named
		}
		of = append(of, n)
	}
	return r, of
}

func (k *ResidentLine) frame() sample.Frame {
	return sample.Frame{Func: k.Function, File: k.File, Line: k.Line}
}

// Whole is what the lines are shares of: all of the row, and all of theirs where that is more.
func (r *Resident) Whole() sample.Bytes { return max(1, r.RowBytes, r.TotalBytes) }

// agrees says whether the samples' sum is that of the row.
func (r *Resident) agrees() bool {
	return math.Abs(float64(r.SeenBytes)-float64(r.RowBytes)) <= residentAgrees*float64(r.RowBytes)
}

// turnsOver says whether much more memory was written for the first time than there is: pages went back to the kernel and
// came again.
func (r *Resident) turnsOver() bool { return r.SeenBytes >= 2*r.RowBytes }

// samplingError is one standard error of what so many samples stand for.
func samplingError(b sample.Bytes, samples uint64) sample.Bytes {
	return sample.Bytes(float64(b) / math.Sqrt(float64(max(1, samples))))
}

// residentLines are the lines of one kind of memory, most bytes first, and the line of each of the list.
func residentLines(list []sample.ResidentGrowth, kind sample.ResidentKind, module string) (lines []ResidentLine, of []sample.Frame) {
	index := map[sample.Frame]int{}
	below := map[sample.Frame]map[string]sample.Bytes{}
	mapped := mappedLines{}
	of = make([]sample.Frame, len(list))
	var shared map[string]bool
	if kind == sample.ResidentNative {
		shared = writesHeap(list, module)
	}
	for n, g := range list {
		if g.Kind != kind {
			continue
		}
		f, isMapped := blamedAt(&list[n], module, shared)
		at := lineOnly(f)
		of[n] = at
		i, known := index[at]
		if !known {
			i = len(lines)
			index[at], below[at] = i, map[string]sample.Bytes{}
			lines = append(lines, ResidentLine{Place: f.Place(), StartLine: f.StartLine, Native: []string{},
				OwnCode: f.File != "" && heapdiff.OwnerOf(f.Func, module) == heapdiff.Own})
		}
		lines[i].Bytes += g.Bytes
		lines[i].Samples += g.Samples
		below[at][strings.Join(nativeOf(g.Where), "\n")] += g.Bytes
		mapped.add(at, isMapped, touchedAt(g.Where, module, shared), g.Bytes)
	}
	for at, i := range index {
		if most := mostOf(below[at]); most != "" {
			lines[i].Native = strings.Split(most, "\n")
		}
		mapped.tell(&lines[i])
	}
	sorting.Stable(lines, func(a, b ResidentLine) int { return cmp.Compare(b.Bytes, a.Bytes) })
	return lines, of
}

// mostOf is the key with the greatest value, of several the first by its text.
func mostOf(m map[string]sample.Bytes) (best string) {
	for key, v := range m {
		if v > m[best] || v == m[best] && key < best {
			best = key
		}
	}
	return best
}

// writesHeap are the program's own functions that were seen to write to fresh pages of the Go heap
// themselves. One that writes to native memory too is a helper: whose memory it is its callers know.
func writesHeap(list []sample.ResidentGrowth, module string) map[string]bool {
	out := map[string]bool{}
	for _, g := range list {
		if g.Kind == sample.ResidentHeap && len(g.Where) > 0 && len(g.Where[0].Frames) > 0 {
			if f := g.Where[0].Frames[0]; heapdiff.OwnerOf(f.Func, module) == heapdiff.Own {
				out[f.Func] = true
			}
		}
	}
	return out
}

// touchedAt is the line of a stack that a maintainer would name: the innermost of the program's own
// code that is no shared helper, else the innermost outside the runtime. Of a stack without Go it is C's
// outermost function, without a line.
func touchedAt(where []sample.Location, module string, shared map[string]bool) (at sample.Frame) {
	for _, l := range where {
		for _, f := range l.Frames {
			switch {
			case f.Line == 0:
				if at.Line == 0 && !startsThreads[f.Func] {
					at = sample.Frame{Func: f.Func}
				}
			case isGlue(f):
			case heapdiff.OwnerOf(f.Func, module) == heapdiff.Own && (!shared[f.Func] || at.Line > 0 && !shared[at.Func]):
				return f // a helper is to be passed over where it wrote the page itself, not where it called what did
			case at.Line == 0:
				at = f
			}
		}
	}
	return at
}

// startsThreads are the C functions that each thread begins with (glibc, musl, runtime/cgo).
var startsThreads = map[string]bool{"start_thread": true, "clone": true, "clone3": true, "__clone": true, "__clone3": true, "threadentry": true, "start": true}

// isGlue reports whether nobody wrote a frame: it lies between Go and C.
func isGlue(f sample.Frame) bool {
	return strings.HasPrefix(f.Func, "runtime.") || strings.Contains(f.Func, "._Cfunc_") || strings.Contains(f.Func, "._cgo_") ||
		strings.HasPrefix(f.File, "_cgo_") || strings.Contains(f.File, "/_cgo_")
}

// nativeOf names C's frames on a stack, innermost first: the first few and the one that Go called.
func nativeOf(where []sample.Location) (names []string) {
	for _, l := range where {
		for _, f := range l.Frames {
			if f.Line != 0 {
				return shortened(names)
			}
			if f.Func != "" && !strings.HasPrefix(f.Func, "_cgo_") && !strings.HasPrefix(f.Func, "(") {
				names = append(names, plainName(f.Func))
			}
		}
	}
	return shortened(names)
}

func shortened(names []string) []string {
	if len(names) > nativeNamed {
		names = append(slices.Clone(names[:nativeNamed-1]), "…", names[len(names)-1])
	}
	return names
}

// blameResident puts the line into a finding of native memory that most of it was touched at, if
// there is one. The confidence is high only where the samples are many and explain the row.
func (c *Case) blameResident(f *Finding, r *Resident) bool {
	if r == nil || len(r.Lines) == 0 || r.Lines[0].File == "" || r.Lines[0].Bytes*5 < r.TotalBytes {
		return false
	}
	k := r.Lines[0]
	f.Culprit = &Culprit{Place: k.Place, Bytes: k.Bytes, Role: "native"}
	f.Why = slices.Insert(f.Why, 0, Why{Text: k.why(r, "native memory"), Evidence: []string{"native"}})
	switch {
	case k.Samples < residentSure:
		f.Confidence, f.Because = Medium, append([]string{doubtFewFaults}, f.Because...)
	case r.turnsOver():
		f.Confidence, f.Because = Medium, append([]string{doubtTurnsOver}, f.Because...)
	case !r.agrees() && r.SeenBytes > r.RowBytes:
		f.Confidence, f.Because = Medium, append([]string{doubtReturned}, f.Because...)
	case !r.agrees():
		f.Confidence, f.Because = Medium, append([]string{doubtPartFaults}, f.Because...)
	case c.sharesAllocator(r):
		f.Confidence, f.Because = Medium, append([]string{doubtShared}, f.Because...)
	case f.Confidence == High:
		f.Because = append([]string{fmt.Sprintf("page faults, sampled from outside, explain %s of the %s", size(min(r.SeenBytes, r.RowBytes)), size(r.RowBytes))},
			f.Because...)
	}
	return true
}

// sharesAllocator reports whether most of the memory is malloc's and several lines wrote it first, by more than the
// sampling's error: what one of them freed malloc gives to another, which takes no page fault.
func (c *Case) sharesAllocator(r *Resident) bool {
	at := c.proc.Residency
	return at != nil && !r.Lines[0].Mapped && at.CMalloc > at.Mmap && r.TotalBytes.Sub(r.Lines[0].Bytes) > 2*r.ErrorBytes
}

// causeOfTouched is the well-known cause of most of the native memory that a line wrote first, by the functions of C
// and Go below it.
func (c *Case) causeOfTouched(blamed *Culprit) *Cause {
	of := map[string]sample.Bytes{}
	found := map[string]*Cause{}
	shared := writesHeap(c.Resident, c.module())
	for _, g := range c.Resident {
		at, _ := blamedAt(&g, c.module(), shared)
		if g.Kind != sample.ResidentNative || at.Func != blamed.Function || at.Line != blamed.Line {
			continue
		}
		var frames []sample.Frame
		for _, l := range g.Where {
			frames = append(frames, l.Frames...)
		}
		if k := c.causeOf(Native, frames, at.Func, true); k != nil && len(k.Functions) > 0 {
			of[k.Name] += g.Bytes
			found[k.Name] = k
		}
	}
	return found[mostOf(of)]
}

// unmap is what to change at a line that maps memory.
const unmap = "unmap what this call maps as soon as nothing uses that memory, or write less of it"

// freeNative is what to change where native memory grows.
func (c *Case) freeNative(k *Culprit) string {
	switch {
	case k == nil:
		return "free the memory that C code or mmap allocates"
	case c.isMappedAt(k):
		return unmap
	case k.Hint:
		return fmt.Sprintf("free the memory that C code or mmap allocates; look first at the call in %s:%d", path.Base(k.File), k.Line)
	}
	return "free what this call allocates, or limit how much of it is kept"
}

// Reasons why a line of native memory is not sure.
const (
	doubtFewFaults  = "fewer than 100 page faults were sampled on the line that wrote most of the native memory"
	doubtShared     = "other lines take memory from the same malloc, so what one line wrote first and freed another may keep"
	doubtTurnsOver  = "native memory was returned and taken again, so the sampled page faults add up to more than there is"
	doubtReturned   = "some native memory was returned meanwhile, so the sampled page faults add up to more than there is"
	doubtPartFaults = "the page faults that were sampled do not add up to the native memory"
)
