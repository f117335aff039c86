package app

import (
	"encoding/json"
	"fmt"
	"io"
	"path"
	"time"

	"github.com/highwater-go/highwater/internal/answer/heapgrowth"
	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/units"
)

// growth prints what came to be held between two captures.
func (f HeapFlags) growth(s *Streams, r *recording.Reader, name string) error {
	g, err := heapgrowth.Between(r, ShortName(name), f.Since, f.At)
	if err != nil {
		return heapMomentError(r, err, name)
	}
	if f.JSON {
		e := json.NewEncoder(s.Out)
		e.SetIndent("", "  ")
		return e.Encode(g)
	}
	return printGrowth(s.Out, g)
}

// growthRows bounds the text to thirty lines.
const growthRows = 9

func printGrowth(w io.Writer, g *heapgrowth.Growth) error {
	p := &heapPrinter{w: w}
	p.line("%s  from %s to %s: %s live, then %s; %d captures, %d collections", g.Program, whenOf(g.Before), whenOf(g.After),
		units.Size(g.Before.Live), units.Size(g.After.Live), g.Captures, g.Collections)
	if len(g.Grew) == 0 {
		p.line("nothing that retains much grew")
		return p.err
	}
	p.line("GREW AND IS STILL REACHABLE                                     growth, steps between captures")
	for _, row := range g.Grew[:min(len(g.Grew), growthRows)] {
		p.line("  +%9s  %s", units.Size(row.Change), short(row.Path, 80))
		steps := fmt.Sprintf("in %d of %d steps", row.Steps, g.Captures-1)
		if row.Always {
			steps = "at every step"
		}
		young := ""
		if row.Young != nil && g.Collections > 0 {
			young = youngOf(uint64(*row.Young), uint64(row.After))
		}
		p.line("      %s, %s to %s, %s objects more, %s%s%s", short(row.Type, 30), units.Size(row.Before), units.Size(row.After), growthCount(row.ChangeObjects),
			steps, young, grownBy(row))
	}
	return p.err
}

func growthCount(n int64) string {
	if n < 0 {
		return "no"
	}
	return count(uint64(n))
}

func grownBy(row heapgrowth.Place) string {
	if len(row.Allocated) == 0 {
		return ""
	}
	at := row.Allocated[0]
	return ", allocated at " + short(fmt.Sprintf("%s:%d %s", path.Base(at.File), at.Line, at.Function), 50)
}

func whenOf(s heapgrowth.Capture) string {
	return units.Duration(time.Duration(s.Elapsed * float64(time.Second)))
}
