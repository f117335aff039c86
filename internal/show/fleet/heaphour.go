package fleet

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/measure/heapdiff"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/sorting"
)

// heapHour adds up what the stacks of one process hold over an hour. Between two profiles
// a stack is taken to hold what the first of them says.
type heapHour struct {
	begin  time.Time // of the hour
	at     time.Time // of the last profile, or since when it is counted in this hour
	sent   time.Time
	news   bool // since then: another hour, or a stack that holds more or less
	looked time.Duration
	stacks map[ID]*inUse
	bySite []ID // of the process's sites, computed once
	now    map[ID]uint64
}

// inUse is what one stack holds.
type inUse struct {
	site     sample.Site
	sum      float64 // bytes times seconds
	now      uint64
	greatest uint64
}

// sentRow is a row and, but for sums, a site of its stack.
type sentRow struct {
	row  HeapHour
	site *sample.Site
}

// over says that a time is of a later hour, or of an earlier one, as a clock that is set back
// by more than an hour tells.
func (h *heapHour) over(at time.Time) bool {
	return !h.begin.IsZero() && (at.Truncate(time.Hour).After(h.begin) || h.begin.Sub(at) > time.Hour)
}

// look takes over a profile of the process. share is given each stack once, and gives the one that
// all processes with it have: it stands in sites from then on.
func (h *heapHour) look(sites []sample.Site, p *sample.HeapProfile, share func(ID, []sample.Location) []sample.Location) {
	if h.stacks == nil {
		h.stacks, h.now = map[ID]*inUse{}, map[ID]uint64{}
	}
	if h.begin.IsZero() {
		h.begin, h.at = p.At.Truncate(time.Hour), p.At
		h.sent, h.news = p.At, true
	}
	h.count(p.At)
	for i := len(h.bySite); i < len(sites); i++ {
		id := stackID(sites[i])
		h.bySite = append(h.bySite, id)
		sites[i].Stack = share(id, sites[i].Stack)
	}
	clear(h.now)
	for i := range min(len(p.Counts), len(sites)) {
		if n := heapdiff.Published.InUse(p.Counts[i]); n > 0 {
			id := h.bySite[i]
			if h.stacks[id] == nil && len(h.stacks) >= mostHeld {
				id = OtherStacks
			}
			h.now[id] += uint64(max(0, heapdiff.Scale(n, sites[i].Size, p.Rate).Bytes))
			if h.stacks[id] == nil {
				h.stacks[id] = &inUse{site: sites[i]}
			}
		}
	}
	for id, s := range h.stacks {
		h.news = h.news || s.now != h.now[id]
		s.now = h.now[id]
		s.greatest = max(s.greatest, s.now)
	}
}

// count adds what was held since the last time.
func (h *heapHour) count(at time.Time) {
	d := min(at.Sub(h.at), time.Hour)
	if d <= 0 {
		h.at = at // the clock went back: what follows counts
		return
	}
	for _, s := range h.stacks {
		s.sum += float64(s.now) * d.Seconds()
	}
	h.looked += d
	h.at = at
}

// due says that the hour is to be sent: it is over, or there are news that are a while old. What it held on until now
// is in the mean of what was sent already.
func (h *heapHour) due(at time.Time) bool {
	return h.over(at) || h.news && due(at, h.sent, everyHeap)
}

// rows are those of the hour until now, AllStacks first. Where it is over, another begins.
func (h *heapHour) rows(at time.Time) []sentRow {
	if h.begin.IsZero() {
		return nil
	}
	turned := h.over(at)
	until := at
	if turned {
		until = h.begin.Add(time.Hour)
	}
	h.count(until)
	list := h.list()
	h.sent, h.news = at, turned
	if turned {
		h.next(at)
	}
	return list
}

// next begins another hour with what is held now.
func (h *heapHour) next(at time.Time) {
	h.begin, h.at, h.looked = at.Truncate(time.Hour), at.Truncate(time.Hour), 0
	for id, s := range h.stacks {
		if s.now == 0 {
			delete(h.stacks, id)
			continue
		}
		s.sum, s.greatest = 0, s.now
	}
}

func (h *heapHour) list() []sentRow {
	ids := make([]ID, 0, len(h.stacks))
	all := HeapHour{Stack: AllStacks, Hour: h.begin, Seconds: uint32(h.looked.Seconds())}
	rest := HeapHour{Stack: OtherStacks, Hour: h.begin}
	for id, s := range h.stacks {
		all = plus(all, s)
		if id == OtherStacks {
			rest = plus(rest, s)
			continue
		}
		ids = append(ids, id)
	}
	rest.Seconds = all.Seconds
	sorting.Stable(ids, func(a, b ID) int {
		return cmp.Or(cmp.Compare(h.stacks[b].sum, h.stacks[a].sum), slices.Compare(a[:], b[:]))
	})
	list := []sentRow{{row: all}}
	for i, id := range ids {
		s := h.stacks[id]
		if i >= mostLines {
			rest = plus(rest, s)
			continue
		}
		list = append(list, sentRow{plus(HeapHour{Stack: id, Hour: h.begin, Seconds: all.Seconds}, s), &s.site})
	}
	if len(ids) > mostLines || h.stacks[OtherStacks] != nil {
		list = append(list, sentRow{row: rest})
	}
	return list
}

// plus adds a stack to a row.
func plus(r HeapHour, s *inUse) HeapHour {
	r.InUseSeconds += uint64(s.sum)
	r.InUseMax += s.greatest
	r.InUseLast += s.now
	return r
}

// stackID names a stack by its frames.
func stackID(s sample.Site) ID {
	var parts []string
	for _, l := range s.Stack {
		for _, f := range l.Frames {
			parts = append(parts, f.Func, f.File, fmt.Sprint(f.Line))
		}
		if len(l.Frames) == 0 {
			parts = append(parts, fmt.Sprintf("%#x", l.Address))
		}
	}
	return hashOf(parts...)
}

// stackOf is the row of a stack.
func stackOf(tenant string, id ID, s sample.Site, module string) Stack {
	b := heapdiff.Blame(s, module)
	var text strings.Builder
	for _, l := range s.Stack {
		for _, f := range l.Frames {
			if text.Len() > bytesPerStack {
				break
			}
			fmt.Fprintf(&text, "%s %s:%d\n", f.Func, f.File, f.Line)
		}
	}
	return Stack{Tenant: tenant, Stack: id, Function: b.Frame.Func, File: b.Frame.File, Line: uint32(max(0, b.Frame.Line)), Frames: text.String(),
		Written: time.Now()}
}
