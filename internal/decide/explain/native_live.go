package explain

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/measure/heapdiff"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/sorting"
)

// NativeLive is what C's allocator has given out and not got back, by the line that asked for it:
// estimated from sampled calls.
type NativeLive struct {
	Lines  []NativeLine `json:"lines"`
	Others int          `json:"others"` // lines not listed
	// TotalBytes is of all lines, as they were asked for: without the allocator's own headers.
	// RowBytes is the native memory of the subject at the moment.
	TotalBytes sample.Bytes `json:"total_bytes"`
	ErrorBytes sample.Bytes `json:"error_bytes"` // one standard error of TotalBytes
	RowBytes   sample.Bytes `json:"row_bytes"`
	Blocks     uint64       `json:"blocks"`
	Samples    uint64       `json:"samples"`
	// SeenSeconds is for how long calls had been seen.
	SeenSeconds float64 `json:"seen_seconds"`
	// Ended is why the probes were taken out before the moment, and EndedSeconds how long before; "": they were not.
	Ended        string  `json:"ended,omitempty"`
	EndedSeconds float64 `json:"ended_seconds,omitempty"`
}

// NativeLine is one line of it. File and Line are empty for memory that a thread asked for which C
// made: Function is C's then.
type NativeLine struct {
	sample.Place
	StartLine  int          `json:"-"` // of the function, which tells whether a source is the program's
	OwnCode    bool         `json:"own_code"`
	Bytes      sample.Bytes `json:"bytes"`
	ErrorBytes sample.Bytes `json:"error_bytes"`
	Blocks     uint64       `json:"blocks"`
	Samples    uint64       `json:"samples"`
	// GrowthBytes is Bytes less what was live half-way between the first look and the last.
	GrowthBytes int64 `json:"growth_bytes"`
	// AllocatedBytes is what was asked for there since calls were seen.
	AllocatedBytes sample.Bytes `json:"allocated_bytes"`
	// How long the oldest live block had lived, and the one in the middle.
	OldestSeconds float64 `json:"oldest_seconds"`
	MedianSeconds float64 `json:"median_seconds"`
	// Native are the C functions below the line in most of its bytes, innermost first;
	// empty: none, or not named.
	Native []string `json:"native"`
}

const (
	// Between these shares of the row, what is live explains it: headers and rounding are not in it.
	nativeExplains, nativeExceeds = 0.8, 1.1
	// mostNativeAges bounds the stacks whose ages are put in order for a line.
	mostNativeAges = 4096
)

// nativeLive reads what of C's the subject had live at the moment, and half-way.
func (l *loader) nativeLive() error {
	at := l.e.Moment.At
	readings, err := l.NativeReadings(at)
	if err != nil {
		return err
	}
	for _, r := range readings {
		if r.Process == l.e.Subject {
			l.e.NativeReadings = append(l.e.NativeReadings, r)
		}
	}
	if len(l.e.NativeReadings) == 0 {
		return nil
	}
	first := l.e.NativeReadings[0].Since
	for to, until := range map[*[]sample.NativeLive]time.Time{&l.e.NativeLive: at, &l.e.NativeHalf: first.Add(at.Sub(first) / 2)} {
		all, err := l.NativeLive(until)
		if err != nil {
			return err
		}
		*to = slices.DeleteFunc(all, func(one sample.NativeLive) bool { return one.Process != l.e.Subject })
	}
	return nil
}

// NativeLiveOf sums up C's live blocks by line, at most so many of them: nil where they were not followed.
func NativeLiveOf(e *Evidence, most int) *NativeLive { return newCase(e).nativeLiveOf(most) }

// nativeLiveOf is that of a case.
func (c *Case) nativeLiveOf(most int) *NativeLive {
	if len(c.NativeReadings) == 0 {
		return nil
	}
	first, last := c.NativeReadings[0], c.NativeReadings[len(c.NativeReadings)-1]
	n := &NativeLive{RowBytes: c.own.Row(sample.RowNative), SeenSeconds: last.At.Sub(first.Since).Seconds(), Lines: []NativeLine{}}
	for _, r := range c.NativeReadings {
		if r.Ended != "" {
			n.Ended, n.EndedSeconds = r.Ended, max(0, c.Moment.At.Sub(r.At).Seconds())
			n.SeenSeconds = r.At.Sub(first.Since).Seconds()
			break
		}
	}
	lines := c.nativeLines()
	unsure := 0.0
	for i := range lines {
		n.TotalBytes += lines[i].Bytes
		n.Blocks += lines[i].Blocks
		n.Samples += lines[i].Samples
		unsure += float64(lines[i].ErrorBytes) * float64(lines[i].ErrorBytes)
	}
	n.ErrorBytes = deviation(unsure)
	named := slices.DeleteFunc(slices.Clone(lines), func(k NativeLine) bool { return k.Samples == 0 || k.Function == "" })
	n.Lines = append(n.Lines, named[:min(most, len(named))]...)
	n.Others = len(lines) - len(n.Lines)
	return n
}

// nativeLines are the lines that have something live, most bytes first.
func (c *Case) nativeLines() (lines []NativeLine) {
	index := map[sample.Frame]int{}
	below := map[sample.Frame]map[string]sample.Bytes{}
	ages := map[sample.Frame][]sample.NativeLive{}
	for i := range c.NativeLive {
		l := &c.NativeLive[i]
		if l.Samples == 0 {
			continue
		}
		asked := touchedAt(l.Where, c.module(), nil)
		at := lineOnly(asked)
		k, known := index[at]
		if !known {
			k = len(lines)
			index[at], below[at] = k, map[string]sample.Bytes{}
			lines = append(lines, NativeLine{Place: at.Place(), StartLine: asked.StartLine, Native: []string{},
				OwnCode: at.File != "" && heapdiff.OwnerOf(at.Func, c.module()) == heapdiff.Own})
		}
		lines[k].addLive(l)
		below[at][strings.Join(nativeOf(l.Where), "\n")] += l.Bytes
		if len(ages[at]) < mostNativeAges {
			ages[at] = append(ages[at], *l)
		}
	}
	for i := range c.NativeHalf {
		l := &c.NativeHalf[i]
		if k, known := index[lineOnly(touchedAt(l.Where, c.module(), nil))]; known {
			lines[k].GrowthBytes -= int64(l.Bytes)
		}
	}
	for at, k := range index {
		if most := mostOf(below[at]); most != "" {
			lines[k].Native = strings.Split(most, "\n")
		}
		lines[k].OldestSeconds, lines[k].MedianSeconds = agesOf(ages[at], c.Moment.At)
	}
	sorting.Stable(lines, func(a, b NativeLine) int { return cmp.Compare(b.Bytes, a.Bytes) })
	return lines
}

func lineOnly(f sample.Frame) sample.Frame {
	return sample.Frame{Func: f.Func, File: f.File, Line: f.Line}
}

// addLive adds a stack to its line.
func (k *NativeLine) addLive(l *sample.NativeLive) {
	k.Bytes += l.Bytes
	k.GrowthBytes += int64(l.Bytes)
	k.Blocks += l.Objects
	k.Samples += l.Samples
	k.AllocatedBytes += l.Allocated
	k.ErrorBytes = deviation(float64(k.ErrorBytes)*float64(k.ErrorBytes) + float64(l.Error)*float64(l.Error))
}

func deviation(v float64) sample.Bytes { return sample.Bytes(math.Sqrt(v)) }

// agesOf are how long the oldest block of some stacks has lived, and about the one in the middle:
// stacks count by their samples.
func agesOf(stacks []sample.NativeLive, at time.Time) (oldest, median float64) {
	sorting.Stable(stacks, func(a, b sample.NativeLive) int { return a.Median.Compare(b.Median) })
	all, seen := uint64(0), uint64(0)
	for _, l := range stacks {
		all += l.Samples
		if !l.Oldest.IsZero() {
			oldest = max(oldest, at.Sub(l.Oldest).Seconds())
		}
	}
	for _, l := range stacks {
		if seen += l.Samples; seen*2 >= all && !l.Median.IsZero() {
			return oldest, max(0, at.Sub(l.Median).Seconds())
		}
	}
	return oldest, oldest
}

// Whole is what the lines are shares of.
func (n *NativeLive) Whole() sample.Bytes { return max(1, n.TotalBytes) }

// explains says whether what is live is about all of the row.
func (n *NativeLive) explains() bool {
	share := float64(n.TotalBytes) / float64(max(1, n.RowBytes))
	return share >= nativeExplains && share <= nativeExceeds
}

// blameLive puts the line into a finding of native memory that most of what C's allocator has given
// out was asked for at, if there is one.
func (c *Case) blameLive(f *Finding, n *NativeLive) bool {
	if n == nil || n.Ended != "" || len(n.Lines) == 0 || n.Lines[0].File == "" || n.Lines[0].Bytes*5 < n.TotalBytes || n.TotalBytes*2 < n.RowBytes {
		return false
	}
	k := n.Lines[0]
	f.Culprit = &Culprit{Place: k.Place, Bytes: k.Bytes, Role: "native"}
	text := fmt.Sprintf("%.0f%% of what C code has not freed was allocated at %s", 100*float64(k.Bytes)/float64(n.Whole()), place(k.File, k.Line))
	if k.GrowthBytes > int64(k.Bytes)/10 && k.GrowthBytes > 2*int64(k.ErrorBytes) {
		text += fmt.Sprintf(", and %s of that in the second half of the time", size(sample.Bytes(k.GrowthBytes)))
	}
	f.Why = append(f.Why, Why{Text: text + " (" + count(int(k.Samples), "sample") + ")", Evidence: []string{"native"}})
	switch {
	case k.Samples < residentSure:
		f.Confidence, f.Because = Medium, append([]string{doubtFewBlocks}, f.Because...)
	case !n.explains():
		f.Confidence, f.Because = Medium, append([]string{doubtPartBlocks}, f.Because...)
	case f.Confidence == High:
		f.Because = append([]string{fmt.Sprintf("blocks that C's allocator gave out and did not get back explain %s of the %s", size(min(n.TotalBytes, n.RowBytes)),
			size(n.RowBytes))}, f.Because...)
	}
	return true
}

// Reasons why a line of live native bytes is not sure.
const (
	doubtFewBlocks  = "fewer than 100 live blocks were sampled on that line"
	doubtPartBlocks = "the blocks that C's allocator gave out do not add up to this memory"
)
