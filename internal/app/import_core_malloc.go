package app

import (
	"errors"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/malloc"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// mallocTime bounds how long C's malloc is read in a core.
const mallocTime = 30 * time.Second

// takeMalloc reads what C's malloc says of itself. A core has no names of mappings: which pages are
// malloc's is known from what was read.
func (r *coreReader) takeMalloc(pm *sample.ProcessMoment) {
	if r.program.Go == nil || !r.program.Go.CGO {
		return
	}
	p := malloc.Process{Memory: r.core, Page: 4 << 10, Exe: r.core.ExecutablePath(), Present: r.core.Written}
	for _, m := range r.core.Mappings() {
		p.Mappings = append(p.Mappings, malloc.Mapping{Start: m.Start, End: m.End, Writable: m.Writable, File: m.Path != "", Path: m.Path})
	}
	m, err := malloc.Read(p, time.Now().Add(mallocTime))
	if err != nil {
		if !errors.Is(err, malloc.ErrNone) {
			r.gap("C's malloc", err)
		}
		return
	}
	pm.Malloc = m
	mallocs := min(pm.Residency.Mmap, m.InUse+m.FreeResident)
	pm.Residency.CMalloc, pm.Residency.Mmap = pm.Residency.CMalloc+mallocs, pm.Residency.Mmap-mallocs
}
