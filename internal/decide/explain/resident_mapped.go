package explain

import (
	"fmt"

	"github.com/highwater-go/highwater/internal/measure/heapdiff"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// blamedAt is the line that native memory is put down to: the one that mapped it, where the program did so
// by itself and that was seen, else the one that wrote it first. A library's own line that maps
// counts for less than the program's own that writes.
func blamedAt(g *sample.ResidentGrowth, module string, shared map[string]bool) (at sample.Frame, mapped bool) {
	written := touchedAt(g.Where, module, shared)
	if len(g.Mapped) == 0 {
		return written, false
	}
	by := touchedAt(g.Mapped, module, nil)
	if by.Line == 0 || isOwn(written, module) && !isOwn(by, module) {
		return written, false
	}
	return by, true
}

func isOwn(f sample.Frame, module string) bool {
	return f.File != "" && heapdiff.OwnerOf(f.Func, module) == heapdiff.Own
}

// mappedLines is, by the line that memory is put down to, how much that line mapped, and which
// lines wrote it.
type mappedLines map[sample.Frame]*mappedLine

type mappedLine struct {
	bytes  sample.Bytes
	writes map[string]sample.Bytes // by file:line, "": at the line itself
}

func (m mappedLines) add(at sample.Frame, mapped bool, written sample.Frame, bytes sample.Bytes) {
	if !mapped {
		return
	}
	one := m[at]
	if one == nil {
		one = &mappedLine{writes: map[string]sample.Bytes{}}
		m[at] = one
	}
	one.bytes += bytes
	where := ""
	if lineOnly(written) != at && written.Line > 0 {
		where = place(written.File, written.Line)
	}
	one.writes[where] += bytes
}

// tell puts it into a line, where most of that was mapped there.
func (m mappedLines) tell(k *ResidentLine) {
	if one := m[k.frame()]; one != nil && one.bytes*2 > k.Bytes {
		k.Mapped, k.WrittenAt = true, mostOf(one.writes)
	}
}

// why says what the page faults of the line that most of the memory is put down to show; noun is what that memory is
// called.
func (k *ResidentLine) why(r *Resident, noun string) string {
	share, at, seen := 100*float64(k.Bytes)/float64(r.Whole()), place(k.File, k.Line), count(int(k.Samples), "sample")
	switch {
	case k.Mapped && k.WrittenAt != "":
		return fmt.Sprintf("%.0f%% of the %s was mapped at %s, and first written at %s (%s of page faults)", share, noun, at, k.WrittenAt, seen)
	case k.Mapped:
		return fmt.Sprintf("%.0f%% of the %s was mapped at %s (%s of page faults)", share, noun, at, seen)
	}
	return fmt.Sprintf("%.0f%% of the %s was first written at %s (%s of page faults)", share, noun, at, seen)
}

// isMappedAt says whether a line mapped the memory that it is blamed for.
func (c *Case) isMappedAt(k *Culprit) bool {
	r := c.residentOf()
	return r != nil && len(r.Lines) > 0 && r.Lines[0].Mapped && r.Lines[0].Line == k.Line && r.Lines[0].Function == k.Function
}
