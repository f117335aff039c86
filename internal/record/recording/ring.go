package recording

import (
	"slices"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// The bounds of a Ring, for each process or in all.
const (
	ringRows     = 64               // points with a row
	ringMoving   = 20 * time.Second // three quarters of them in less than that: the program moves
	ringProfiles = 4                // the first heap profile and the last ones
	ringOthers   = 256              // collections, events and gaps
	ringSites    = 20_000           // of a process; one with more has a recording at once
	ringLooks    = 30_000           // that one row stands for: half of what a reader takes for a rest
)

// Ring is what a Writer would be given of a program that rests, in memory: most programs of a node end without anything
// that is worth a file. Its points are those that a Writer would give a row. WriteTo hands over all, so that a recording
// that begins later says what one from the beginning says, but for what a long rest repeats: where there are ringRows
// points, old ones become looks that saw nothing new. Of heap profiles the first and the last ones stay, of moments the
// last of each kind.
//
// It is a capture.Sink. The sites of a process it only counts: Known gives them where they are written.
type Ring struct {
	// Known are the sites that were given of a process, in order; whoever else takes them has them once for
	// all programs of a build.
	Known func(sample.ProcessKey) []sample.Site

	programs []sample.Program
	sites    map[sample.ProcessKey]int
	points   []*ringPoint
	resting
	last     *ringPoint // of a rest, says nothing new: its row is that before news
	profiles map[sample.ProcessKey][]ringProfile
	moments  map[sample.MomentKind]ringMoment
	others   []ringOther
	growth   []sample.ResidentGrowth
	moves    bool // it is worth a recording
}

// ringPoint is a point with its time.
type ringPoint struct {
	held
	time    time.Time
	resting bool
}

func (p *ringPoint) point() *sample.Point {
	one := p.seen.Point
	one.At, one.Resting = p.time, p.resting
	return &one
}

// ringProfile is a heap profile whose counts are packed.
type ringProfile struct {
	sample.HeapProfile
	packed []byte
	n      int
}

// ringOther is what a Writer is given at a time.
type ringOther struct {
	at   time.Time
	give func(*Writer) error
}

// ringMoment is a moment, the profiles of its processes apart.
type ringMoment struct {
	sample.Moment
	profiles []*ringProfile
}

// NewRing makes one. known gives the sites of a process that were given so far.
func NewRing(known func(sample.ProcessKey) []sample.Site) *Ring {
	return &Ring{Known: known, sites: map[sample.ProcessKey]int{}, profiles: map[sample.ProcessKey][]ringProfile{},
		moments: map[sample.MomentKind]ringMoment{}}
}

// Moves says that more comes than a rest has: it is time for a recording.
func (r *Ring) Moves() bool { return r.moves }

// Runs says whether a process with sites runs: where it becomes another program, what is known of the sites ends.
func (r *Ring) Runs(key sample.ProcessKey) bool { return r.sites[key] > 0 }

// Program keeps what runs.
func (r *Ring) Program(p sample.Program) error {
	r.programs = append(r.programs, p)
	r.moves = r.moves || len(r.programs) > ringOthers
	return nil
}

// Sites counts them.
func (r *Ring) Sites(key sample.ProcessKey, first int, sites []sample.Site) error {
	r.sites[key] = max(r.sites[key], first+len(sites))
	r.moves = r.moves || r.sites[key] > ringSites
	return nil
}

// Point keeps a point that has news; of those without the last.
func (r *Ring) Point(p *sample.Point) error {
	if p.Resting && r.known && r.looks < ringLooks && r.base.seen.sameAs(p) {
		if r.last == nil {
			r.last = new(ringPoint)
		}
		r.last.take(p)
		r.looks++
		return nil
	}
	r.news()
	one := new(ringPoint)
	one.take(p)
	r.points = append(r.points, one)
	if r.known = p.Resting; r.known {
		r.base.copyOf(p)
	}
	r.bound()
	return nil
}

func (p *ringPoint) take(from *sample.Point) {
	p.copyOf(from)
	p.time, p.resting = from.At, from.Resting
}

// news gives the last point of a rest its row.
func (r *Ring) news() {
	if r.last == nil {
		return
	}
	r.last.unchanged = r.looks - 1
	r.points = append(r.points, r.last)
	r.base.copyOf(&r.last.seen.Point)
	r.last, r.looks = nil, 0
}

// bound takes every second of the older points for one without news.
func (r *Ring) bound() {
	if len(r.points) < ringRows {
		return
	}
	old := len(r.points) * 3 / 4
	if r.points[len(r.points)-1].time.Sub(r.points[len(r.points)-old].time) < ringMoving {
		r.moves = true
		return
	}
	kept := r.points[:1:1]
	for i := 1; i < old; i++ {
		if sum := r.points[i+1].unchanged + r.points[i].unchanged + 1; i%2 == 1 && sum < ringLooks {
			r.points[i+1].unchanged = sum
			continue
		}
		kept = append(kept, r.points[i])
	}
	r.points = slices.Clip(append(kept, r.points[old:]...))
}

// Cycle keeps a collection.
func (r *Ring) Cycle(c sample.GCCycle) error {
	r.other(c.At, func(w *Writer) error { return w.Cycle(c) })
	return nil
}

// Event keeps what happened.
func (r *Ring) Event(e sample.Event) error {
	r.other(e.At, func(w *Writer) error { return w.Event(e) })
	return nil
}

// Gap keeps what was not seen.
func (r *Ring) Gap(g sample.Gap) error {
	r.other(g.From, func(w *Writer) error { return w.Gap(g) })
	return nil
}

func (r *Ring) other(at time.Time, give func(*Writer) error) {
	r.others = append(r.others, ringOther{at, give})
	r.moves = r.moves || len(r.others) > ringOthers
}

// Heap keeps the first heap profile of a process and the last ones.
func (r *Ring) Heap(key sample.ProcessKey, p *sample.HeapProfile) error {
	one, err := packed(p)
	if err != nil {
		return err
	}
	list := append(r.profiles[key], *one)
	if len(list) > ringProfiles {
		list = slices.Delete(list, 1, 2)
	}
	r.profiles[key] = list
	return nil
}

func packed(p *sample.HeapProfile) (*ringProfile, error) {
	zip, err := encoder()
	if err != nil {
		return nil, err
	}
	one := &ringProfile{HeapProfile: *p, packed: packCounts(zip, p.Counts, nil), n: len(p.Counts)}
	one.Counts = nil
	return one, nil
}

// Moment keeps the last of a kind.
func (r *Ring) Moment(m *sample.Moment) error {
	one := ringMoment{Moment: *m, profiles: make([]*ringProfile, len(m.Processes))}
	one.Processes = slices.Clone(m.Processes)
	for i := range one.Processes {
		if p := one.Processes[i].Profile; p != nil {
			var err error
			if one.profiles[i], err = packed(p); err != nil {
				return err
			}
			one.Processes[i].Profile = nil
		}
	}
	r.moments[m.Kind] = one
	return nil
}

// Flush has nothing to do: nothing of a rest is worth the disk.
func (r *Ring) Flush() error { return nil }

// WriteTo hands over what was kept, in its order. The Ring is empty then.
func (r *Ring) WriteTo(w *Writer) error {
	r.news()
	unzip, err := newDecoder()
	if err != nil {
		return err
	}
	defer unzip.Close()
	for _, p := range r.programs {
		if err := w.Program(p); err != nil {
			return err
		}
	}
	for key, n := range r.sites {
		sites := r.Known(key)
		if err := w.Sites(key, 0, sites[:min(n, len(sites))]); err != nil {
			return err
		}
	}
	for _, one := range r.inOrder(unzip) {
		if err := one.give(w); err != nil {
			return err
		}
	}
	if err := r.writePoints(w); err != nil {
		return err
	}
	if len(r.growth) > 0 {
		if err := w.Growth(r.growth); err != nil {
			return err
		}
	}
	*r = Ring{}
	return w.Flush()
}

// inOrder are profiles, moments and the others.
func (r *Ring) inOrder(unzip *zstd.Decoder) []ringOther {
	all := r.others
	for key, list := range r.profiles {
		for i := range list {
			all = append(all, ringOther{list[i].At, func(w *Writer) error {
				p, err := list[i].unpack(unzip)
				if err != nil {
					return err
				}
				return w.Heap(key, p)
			}})
		}
	}
	for _, m := range r.moments {
		all = append(all, ringOther{m.At, func(w *Writer) error { return m.write(w, unzip) }})
	}
	slices.SortStableFunc(all, func(a, b ringOther) int { return a.at.Compare(b.at) })
	return all
}

func (m *ringMoment) write(w *Writer, unzip *zstd.Decoder) error {
	for i, p := range m.profiles {
		if p == nil {
			continue
		}
		var err error
		if m.Processes[i].Profile, err = p.unpack(unzip); err != nil {
			return err
		}
	}
	return w.Moment(&m.Moment)
}

func (p *ringProfile) unpack(unzip *zstd.Decoder) (*sample.HeapProfile, error) {
	one := p.HeapProfile
	var err error
	one.Counts, err = unpackCounts(unzip, p.packed, p.n, nil)
	return &one, err
}

func (r *Ring) writePoints(w *Writer) error {
	for _, p := range r.points {
		if w.db == nil {
			return ErrClosed
		}
		w.enqueue(p.point())
		w.points[w.queued-1].unchanged = p.unchanged
		if w.queued >= maxHeld {
			if err := w.Flush(); err != nil {
				return err
			}
		}
	}
	return nil
}
