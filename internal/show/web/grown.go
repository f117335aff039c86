package web

import (
	"time"

	"github.com/highwater-go/highwater/internal/answer/moment"
	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// Grown is one kind of memory of the process, by the lines that wrote to its pages first: a
// sampled profile of page faults. What is returned to the kernel is not taken off.
type Grown struct {
	Kind    string      `json:"kind"`    // "native", "heap", "runtime", "shared", "file"
	Word    string      `json:"word"`    // what it is called
	Whole   int64       `json:"whole"`   // what shares are of
	Total   int64       `json:"total"`   // of all lines
	Error   int64       `json:"error"`   // one standard error of that
	Samples uint64      `json:"samples"` // page faults
	Lines   []GrownLine `json:"lines"`   // most bytes first
	Others  Rest        `json:"others"`  // lines that are not listed
}

// GrownLine is one line of code, or a thread of C, which has no place.
type GrownLine struct {
	Function string   `json:"function"`
	Short    string   `json:"short"`
	Place    string   `json:"place"`
	Owner    string   `json:"owner"`
	Bytes    int64    `json:"bytes"`
	Error    int64    `json:"error"`
	Samples  uint64   `json:"samples"`
	Native   []string `json:"native"` // functions of C below it, innermost first
	Course   []Stood  `json:"course"`
	Code     *Code    `json:"code"`
	CodeWhy  string   `json:"code_why"`
}

// grownKinds are the kinds in the order in which they are shown.
var grownKinds = []struct {
	kind sample.ResidentKind
	word string
}{
	{sample.ResidentNative, explain.WordNative}, {sample.ResidentHeap, "Go heap and stacks"},
	{sample.ResidentRuntime, "Go runtime"}, {sample.ResidentShared, "shared memory"}, {sample.ResidentFile, "files and program data"},
}

// grown is the profile of page faults until the moment; empty where none was taken.
func (b *Book) grown(r *recording.Reader, side *moment.Profiled, a *explain.Answer) ([]Grown, error) {
	out := []Grown{}
	if len(side.Evidence.Resident) == 0 {
		return out, nil
	}
	instants := evenly(side.Start, side.Moment.At, courseLong)
	all, reached, err := r.GrowthOver(instants)
	if err != nil {
		return out, err
	}
	var list []sample.ResidentGrowth
	var courses [][]sample.Bytes
	for i, g := range all {
		if g.Process == side.Subject {
			list, courses = append(list, g), append(courses, reached[i])
		}
	}
	for _, k := range grownKinds {
		row := sample.Bytes(0)
		if k.kind == sample.ResidentNative && a.Resident != nil {
			row = a.Resident.RowBytes
		}
		res, of := explain.ResidentOf(list, k.kind, row, side.Module(), mostLines)
		if res == nil {
			continue
		}
		g := b.grownKind(res, side)
		g.Kind, g.Word = string(k.kind), k.word
		g.courses(side, instants, of, courses, float64(res.TotalBytes)/max(1, float64(res.SeenBytes)))
		out = append(out, g)
	}
	return out, nil
}

// evenly are so many instants, the last of them at the end.
func evenly(from, to time.Time, n int) (out []time.Time) {
	for i := range n {
		out = append(out, to.Add(-to.Sub(from)*time.Duration(n-1-i)/time.Duration(n-1)))
	}
	return out
}

func (b *Book) grownKind(r *explain.Resident, side *moment.Profiled) Grown {
	g := Grown{Whole: int64(r.Whole()), Total: int64(r.TotalBytes), Error: int64(r.ErrorBytes), Samples: r.Samples, Lines: []GrownLine{},
		Others: Rest{r.Others, int64(r.TotalBytes)}}
	for _, k := range r.Lines {
		f := sample.Frame{Func: k.Function, File: k.File, StartLine: k.StartLine, Line: k.Line}
		l := GrownLine{Function: k.Function, Short: explain.ShortFunc(k.Function), Place: place(f), Owner: ownerOf(k.Function, side.Module()), Bytes: int64(k.Bytes),
			Error: int64(k.ErrorBytes), Samples: k.Samples, Native: k.Native, Course: []Stood{}}
		if k.File == "" {
			l.Short, l.Owner = k.Function, "C"
		}
		l.Code, l.CodeWhy = b.code(f)
		g.Lines = append(g.Lines, l)
		g.Others.Bytes -= int64(k.Bytes)
	}
	return g
}

// courses adds how each line got there; scale makes what the samples stand for what the line has.
func (g *Grown) courses(side *moment.Profiled, instants []time.Time, of []int, reached [][]sample.Bytes, scale float64) {
	for n := range instants {
		sums := make([]float64, len(g.Lines))
		for i, line := range of {
			if line >= 0 {
				sums[line] += float64(reached[i][n])
			}
		}
		for i := range g.Lines {
			g.Lines[i].Course = append(g.Lines[i].Course, Stood{side.Seconds(instants[n]), int64(sums[i] * scale)})
		}
	}
}
