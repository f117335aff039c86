package report

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/units"
)

// NativeHeap is what heap --native says: C's live blocks by the line that asked for them, at a moment.
type NativeHeap struct {
	Schema    string `json:"schema"` // highwater.native/1
	Recording string `json:"recording"`
	Program   string `json:"program"`
	PID       int    `json:"pid"`
	// Running means that it ran when this was read. At is the moment, in seconds after the recording's start.
	Running bool    `json:"running"`
	At      float64 `json:"at"`
	*explain.NativeLive
}

// JSON writes it as JSON.
func (n *NativeHeap) JSON(w io.Writer) error {
	n.Schema = "highwater.native/1"
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(n)
}

// Text writes it for people.
func (n *NativeHeap) Text(w io.Writer, o Options) error {
	p := page{width: o.width()}
	head := fmt.Sprintf("%s (pid %d) has %s of native memory in use by C", n.Program, n.PID, units.Size(n.TotalBytes))
	if n.RowBytes >= sample.MiB {
		head += fmt.Sprintf(", of %s outside the Go heap", units.Size(n.RowBytes))
	}
	head += fmt.Sprintf(", %s after the start", ago(n.At))
	if n.Running {
		head += "; it is running"
	}
	p.wrap("", head+".")
	p.add("")
	if len(n.Lines) == 0 {
		p.wrap("  ", fmt.Sprintf("No sampled block was live: what was allocated in the %s that calls were followed was freed.", ago(n.SeenSeconds)))
	} else {
		p.nativeLines(n.NativeLive, o, len(n.Lines))
	}
	p.add("")
	p.wrap("", fmt.Sprintf("Seen: calls of C's allocator for %s, sampled by bytes. What was allocated before that, or mapped by mmap, is not listed.",
		ago(n.SeenSeconds)))
	p.add(o.Next)
	return write(w, p.lines, o, nil)
}
