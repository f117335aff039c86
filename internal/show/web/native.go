package web

import (
	"github.com/highwater-go/highwater/internal/answer/moment"
	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// NativeLive is what C's allocator had given out and not got back at the moment, by the line that
// asked for it.
type NativeLive struct {
	Total   int64            `json:"total"` // of all lines
	Error   int64            `json:"error"` // one standard error of that
	Row     int64            `json:"row"`   // native memory of the process
	Blocks  uint64           `json:"blocks"`
	Seen    float64          `json:"seen"`  // seconds for which calls had been followed
	Ended   string           `json:"ended"` // why that ended before the moment; "": it did not
	Before  float64          `json:"before"`
	Lines   []NativeLiveLine `json:"lines"` // most bytes first
	Others  Rest             `json:"others"`
	Samples uint64           `json:"samples"`
}

// NativeLiveLine is one line of code, or a thread of C, which has no place.
type NativeLiveLine struct {
	Function string   `json:"function"`
	Short    string   `json:"short"`
	Place    string   `json:"place"`
	Owner    string   `json:"owner"`
	Bytes    int64    `json:"bytes"`
	Error    int64    `json:"error"`
	Blocks   uint64   `json:"blocks"`
	Growth   int64    `json:"growth"` // since half of the time
	Oldest   float64  `json:"oldest"` // seconds
	Median   float64  `json:"median"`
	Native   []string `json:"native"` // functions of C below it, innermost first
	Code     *Code    `json:"code"`
	CodeWhy  string   `json:"code_why"`
}

// nativeLive is that of the moment; nil where C's calls were not followed.
func (b *Book) nativeLive(side *moment.Profiled) *NativeLive {
	l := explain.NativeLiveOf(side.Evidence, mostLines)
	if l == nil {
		return nil
	}
	n := &NativeLive{Total: int64(l.TotalBytes), Error: int64(l.ErrorBytes), Row: int64(l.RowBytes), Blocks: l.Blocks, Samples: l.Samples, Seen: l.SeenSeconds,
		Ended: l.Ended, Before: l.EndedSeconds, Lines: []NativeLiveLine{}, Others: Rest{l.Others, int64(l.TotalBytes)}}
	for _, k := range l.Lines {
		f := sample.Frame{Func: k.Function, File: k.File, StartLine: k.StartLine, Line: k.Line}
		one := NativeLiveLine{Function: k.Function, Short: explain.ShortFunc(k.Function), Place: place(f), Owner: ownerOf(k.Function, side.Module()),
			Bytes: int64(k.Bytes),
			Error: int64(k.ErrorBytes), Blocks: k.Blocks, Growth: k.GrowthBytes, Oldest: k.OldestSeconds, Median: k.MedianSeconds, Native: k.Native}
		if k.File == "" {
			one.Short, one.Owner = k.Function, "C"
		}
		one.Code, one.CodeWhy = b.code(f)
		n.Lines = append(n.Lines, one)
		n.Others.Bytes -= int64(k.Bytes)
	}
	return n
}
