package recording

import (
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

func TestResidentGrowthIsReadBackAsItsSum(t *testing.T) {
	w, path := create(t, meta)
	must(t, w.Program(programs[0]))
	c := sample.Location{Address: 0x1200, Frames: []sample.Frame{{Func: "malloc", File: "libc.so.6"}}}
	goes := sample.Location{Address: 0x4600, Frames: []sample.Frame{{Func: "main.fill", File: "/src/main.go", Line: 40}}}
	row := sample.ResidentGrowth{From: start, At: start.Add(time.Second), Process: programs[0].Key, Kind: sample.ResidentNative,
		Where: []sample.Location{c, goes}, Samples: 3, Bytes: 3 << 18}
	later := row
	later.From, later.At, later.Samples, later.Bytes = row.At, start.Add(3*time.Second), 2, 2<<18
	heap := row
	heap.Kind, heap.Where = sample.ResidentHeap, []sample.Location{goes}
	must(t, w.Growth([]sample.ResidentGrowth{row, heap}))
	must(t, w.Growth([]sample.ResidentGrowth{later}))
	must(t, w.Close())
	must(t, Verify(path))
	r := open(t, path)
	first, err := r.Growth(start.Add(2 * time.Second))
	must(t, err)
	equal(t, "until then", first, []sample.ResidentGrowth{row, heap})
	all, err := r.Growth(start.Add(time.Hour))
	must(t, err)
	row.At, row.Samples, row.Bytes = later.At, 5, 5<<18
	equal(t, "all", all, []sample.ResidentGrowth{row, heap})
	over, reached, err := r.GrowthOver([]time.Time{start, start.Add(2 * time.Second), start.Add(time.Hour)})
	must(t, err)
	equal(t, "over time", over, all)
	equal(t, "what each reached", reached, [][]sample.Bytes{{0, 3 << 18, 5 << 18}, {0, 3 << 18, 3 << 18}})
}

func TestWhoMappedMemoryIsReadBackAndAddedUpApart(t *testing.T) {
	w, path := create(t, meta)
	must(t, w.Program(programs[0]))
	writes := sample.Location{Address: 0x4600, Frames: []sample.Frame{{Func: "main.fill", File: "/src/main.go", Line: 40}}}
	maps := sample.Location{Address: 0x4700, Frames: []sample.Frame{{Func: "main.newSlab", File: "/src/slab.go", Line: 9}}}
	known := sample.ResidentGrowth{From: start, At: start.Add(time.Second), Process: programs[0].Key, Kind: sample.ResidentNative,
		Where: []sample.Location{writes}, Mapped: []sample.Location{maps}, Samples: 3, Bytes: 3 << 18}
	unknown := known // the same line wrote memory that somebody else mapped
	unknown.Mapped, unknown.Bytes = nil, 5
	more := known
	more.From, more.At, more.Samples, more.Bytes = known.At, start.Add(2*time.Second), 1, 7
	must(t, w.Growth([]sample.ResidentGrowth{known, unknown}))
	must(t, w.Growth([]sample.ResidentGrowth{more}))
	must(t, w.Close())
	must(t, Verify(path))
	got, err := open(t, path).Growth(start.Add(time.Hour))
	must(t, err)
	known.At, known.Samples, known.Bytes = more.At, 4, 3<<18+7
	equal(t, "who mapped it", got, []sample.ResidentGrowth{known, unknown})
}
