package explain

import (
	"math"
	"slices"
	"strings"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// keepers is how much of the memory in question is kept by what: lasting roots, which are
// variables and frames that never return, frames of calls in flight, and pools. NaN where no
// capture of the heap near the moment tells.
type keepers struct {
	lasting, frames, pooled float64
	along                   float64      // the part of lasting that goroutines keep which run along: by their number
	of                      sample.Bytes // that the parts are of
}

// nearCapture is how far from the moment, in seconds, a capture of the heap may be to
// tell of the memory at it.
const nearCapture = 5

// keptBy reads it from the capture of the heap: of what was allocated at the blamed line,
// as far as holders tell; else of the whole live heap.
func (c *Case) keptBy() keepers {
	none := keepers{math.NaN(), math.NaN(), math.NaN(), 0, 0}
	h := c.Heap
	if h == nil {
		return none
	}
	if math.Abs(c.seconds(h.At)-c.outcome.MomentElapsed) > max(nearCapture, c.outcome.MomentElapsed/10) {
		return c.keptSince()
	}
	if float64(h.LiveBytes) < heldByRoot.v()*float64(c.live.bytes) {
		return none // most of what is in question came later
	}
	k := c.keptOfLine()
	if k.known()+k.unknown < h.LiveBytes/20 {
		k = kept{}
		for i := range h.Paths {
			if c.isRoot(i) {
				c.addKeeper(i, h.Paths[i].Retained, &k)
			}
		}
	}
	all := k.known()
	if all == 0 || all < k.unknown {
		return none
	}
	share := func(n sample.Bytes) float64 { return float64(n) / float64(all) }
	return keepers{share(k.lasting), share(k.frames), share(k.pooled), share(k.along), all}
}

// keptSince tells it by an earlier capture, of lasting roots alone: what they kept then of a line of which hardly anything was
// ever freed is still held. NaN where most of what the line holds came later.
func (c *Case) keptSince() keepers {
	k := keepers{math.NaN(), math.NaN(), math.NaN(), 0, 0}
	if c.site == nil || c.site.Allocated == 0 || c.seconds(c.Heap.At) > c.outcome.MomentElapsed || c.freedShare() > freedLittle.v() {
		return k
	}
	then := c.keptOfLine()
	all := max(then.known()+then.unknown, c.site.Bytes+c.site.Since)
	if all > 0 && float64(then.lasting) >= heldByRoot.v()*float64(all) {
		k.lasting, k.along, k.of = float64(then.lasting)/float64(all), float64(then.along)/float64(all), all
	}
	return k
}

// keptOfLine is what roots keep of what was allocated at the blamed line.
func (c *Case) keptOfLine() (k kept) {
	if c.site == nil {
		return k
	}
	for i := range c.Heap.Paths {
		if n := allocatedBy(&c.Heap.Paths[i], c.site); n > 0 {
			c.addKeeper(i, n, &k)
		}
	}
	return k
}

// kept is how many bytes roots of each tenure keep, and how many of those that last are goroutines' that run along.
type kept struct{ lasting, frames, pooled, unknown, along sample.Bytes }

// known is what is kept by roots whose tenure is known.
func (k *kept) known() sample.Bytes { return k.lasting + k.frames + k.pooled }

// isRoot reports whether a path is a root, or of a goroutine the frame of a function.
func (c *Case) isRoot(path int) bool {
	p := &c.Heap.Paths[path]
	if p.Parent < 0 {
		return p.Root == nil || p.Root.Kind != sample.RootGoroutine
	}
	above := &c.Heap.Paths[p.Parent]
	return above.Parent < 0 && above.Root != nil && above.Root.Kind == sample.RootGoroutine
}

func (c *Case) addKeeper(path int, n sample.Bytes, k *kept) {
	switch c.tenureOf(path) {
	case unknownTenure:
		k.unknown += n
	case passing:
		k.frames += n
	case pools:
		k.pooled += n
	case lasts:
		k.lasting += n
		if root := c.Heap.RootOf(path); root != nil && root.Kind == sample.RootGoroutine && root.First != 1 {
			k.along += n
		}
	}
}

// tenure is for how long a root will keep what it leads to.
type tenure int

const (
	unknownTenure tenure = iota
	passing              // until a call returns
	pools                // until GC has run twice and nobody took it
	lasts                // as long as the program runs, by all that was seen
)

// ofPool is a part of each path through a sync.Pool, and of no other (sync/pool.go: poolLocal).
const ofPool = ".poolLocalInternal."

// fromSeveral begins the path to what no single place retains; what follows is one way to it of several
// (measure/heapgraph).
const fromSeveral = "several places: "

// tenureOf tells it of the root that a path begins at. The frame of a goroutine's first function
// lasts where the goroutine does: main's, and those that were there all along. A frame of a function
// that it called lasts where that call stood all along.
func (c *Case) tenureOf(path int) tenure {
	paths, first, frame := c.Heap.Paths, path, path
	for n := 0; paths[path].Parent >= 0 && n < len(paths); n++ {
		path, frame = paths[path].Parent, path
	}
	if strings.Contains(c.Heap.Path(first), "its descriptor._defer") {
		return lasts // a function that defers for ever is one that does not return
	}
	if strings.Contains(c.Heap.Path(first), ofPool) && !strings.HasPrefix(paths[path].Label, fromSeveral) {
		return pools
	}
	root := paths[path].Root
	t := lasts
	switch {
	case root == nil:
		t = c.tenureByLabel(paths[path].Label)
	case len(root.Sharers) > 0:
		t = c.tenureOfSharers(root.Sharers)
	default:
		t = c.tenureOfRoot(root, paths[frame].Label)
	}
	switch {
	case t == lasts && c.oneForEachCall(first):
		return c.tenureOfCalls()
	case t == passing && c.stayedBehind(paths[path].Label):
		return lasts
	}
	return t
}

// stayedBehind reports whether what a call has in hand, and others lead to as well, was there when calls had ended: a
// service's own pool or table, which a call uses.
func (c *Case) stayedBehind(label string) bool {
	return strings.Contains(label, andOthers) && c.inFlight.left >= leftBehind.v()
}

// andOthers is in the path to what a root leads to and others do, too (package heapgraph).
const andOthers = " and others"

// oneForEachCall reports whether a path leads through as many objects of one type as there are calls in flight: a
// library's table of its streams or connections, where what a call sends lies until it has gone.
func (c *Case) oneForEachCall(path int) bool {
	calls, paths := float64(c.inFlight.calls), c.Heap.Paths
	if calls < severalCalls*manyCalls.v() {
		return false
	}
	for n := 0; paths[path].Parent >= 0 && n < len(paths); n++ {
		if of := float64(paths[path].Objects); of >= stillRunning.v()*calls && of*stillRunning.v() <= calls {
			return true
		}
		path = paths[path].Parent
	}
	return false
}

// severalCalls is how many times many calls have to be in flight for their number to be no accident.
const severalCalls = 4

// tenureOfCalls is that of what lasts as long as the calls in flight: it is not known of calls that have been there
// for some seconds, and all along, which may be connections that gather more and more.
func (c *Case) tenureOfCalls() tenure {
	if c.inFlight.standing || c.outcome.MomentElapsed >= shortestRise.v() && c.inFlight.gather == 0 && c.inFlight.correlation == 0 {
		return unknownTenure
	}
	return passing
}

// tenureOfRoot tells it of a root, and of a frame by its label.
func (c *Case) tenureOfRoot(root *sample.HeapRoot, frame string) tenure {
	switch {
	case root.Kind != sample.RootGoroutine:
		return lasts
	case root.Func == "":
		return unknownTenure // several goroutines, or a goroutine and something else
	case root.First == 1 || c.stays(root):
		return c.tenureOfFrame(root, frame)
	case c.waitsSinceTheStart(root):
		return unknownTenure
	}
	return passing
}

// tenureOfSharers tells it of what goroutines of several functions keep together: it lasts where one of them keeps
// it, and until a call returns where all are calls.
func (c *Case) tenureOfSharers(all []sample.HeapSharer) tenure {
	best := passing
	for i := range all {
		switch c.tenureOfRoot(&all[i].HeapRoot, " in "+all[i].Frame) {
		case lasts:
			return lasts
		case unknownTenure:
			best = unknownTenure
		}
	}
	return best
}

// tenureOfFrame tells it of a frame of goroutines that stay, by the path's second part.
func (c *Case) tenureOfFrame(root *sample.HeapRoot, label string) tenure {
	function, ok := strings.CutPrefix(label, " in ")
	switch {
	case function == preempted:
		return passing // what a function that ran had in its registers
	case slices.Contains(growers, function):
		return unknownTenure // the array takes the place of a smaller one, wherever that is
	case !ok && root.First != 1 && root.Count > 1:
		return unknownTenure // of several goroutines no frame is known
	case !ok || function == root.Func || function == "main.main":
		return lasts
	}
	return c.callLasts(function)
}

// waitsSinceTheStart reports whether the first of some goroutines has waited for nearly as long as the program ran, and
// for some seconds: whether they are calls in flight, or will never end, is not known.
func (c *Case) waitsSinceTheStart(root *sample.HeapRoot) bool {
	return root.Oldest.OK && root.Oldest.V.Seconds() >= max(shortestRise.v(), stillRunning.v()*c.outcome.MomentElapsed)
}

// preempted is the frame in which the registers of a goroutine lie that was stopped while it ran (runtime/preempt.go).
const preempted = "runtime.asyncPreempt"

// growers are functions that fill a larger array from a smaller one, which their caller then replaces by it: a kill
// or a capture in the midst of that finds the larger one in no variable yet.
var growers = []string{"runtime.growslice", "bytes.growSlice", "bytes.(*Buffer).grow", "bytes.(*Buffer).Grow", "slices.Grow[...]", "strings.(*Builder).grow"}

// stays reports whether goroutines that keep memory are loops: there were as many of them all along, or
// they are few and no goroutine began.
func (c *Case) stays(root *sample.HeapRoot) bool {
	return c.runsAlong(root.Func) || root.Count <= int(manyCalls.v()) && c.sameGoroutines()
}

// tenureByLabel is the tenure by the path's first part, of a recording that does not say what roots are.
func (c *Case) tenureByLabel(label string) tenure {
	name, ok := strings.CutPrefix(label, "goroutine ")
	function, _, _ := strings.Cut(name, " ")
	if ok && function != "main.main" && function != "runtime.main" && !c.runsAlong(function) {
		return passing
	}
	return lasts
}

// callLasts tells the tenure of a frame of a function that a lasting goroutine called. What the blamed line was
// called through, but is no call of the program's, is its scaffolding, and lasts; what the line itself called is left
// with it. Of any other function looks at the goroutines tell whether it was left.
func (c *Case) callLasts(function string) tenure {
	if function == sample.WholeStack {
		return unknownTenure
	}
	if c.site == nil {
		return lasts
	}
	since, function := c.outcome.MomentElapsed/3, bareName(function)
	for i, caller := range c.site.callers() {
		if bareName(caller.Function) == function {
			return c.site.tenureOf(func(s *SiteSnapshot) int { return s.calls(i) }, since)
		}
	}
	at := func(name string) int {
		return slices.IndexFunc(c.site.Stack, func(f sample.Frame) bool { return bareName(f.Func) == name })
	}
	if i, own := at(function), at(bareName(c.site.Function)); i >= 0 && i < own {
		return c.callLasts(c.site.Function) // the line called it, and it is gone when the line is left
	} else if i >= 0 {
		return lasts
	}
	if !slices.ContainsFunc(c.site.Course, func(s SiteSnapshot) bool { return s.Inside != nil }) {
		return lasts
	}
	return c.site.tenureOf(func(s *SiteSnapshot) int { return s.Inside[function] }, since)
}

// tenureOf tells whether a call was left since an instant: nobody was inside it at one look
// at least. It lasts where somebody was at enough of them; at others a goroutine may have been that ran.
func (s *Site) tenureOf(inside func(*SiteSnapshot) int, since float64) tenure {
	looks := 0
	for i := range s.Course {
		stand := &s.Course[i]
		if !stand.Goroutines || stand.At < since {
			continue
		}
		switch n := inside(stand); {
		case n > 0:
			looks++
		case stand.Unseen == 0:
			return passing
		}
	}
	if looks < int(enoughReadings.v()) {
		return unknownTenure
	}
	return lasts
}

// heldByLoops reports whether goroutines of one function retain what the line allocated that were there all along, as many of
// them, and hardly any of that was ever freed: what they gather is not in flight, though each look finds it on their stacks.
func (c *Case) heldByLoops() bool {
	h := c.retainerOf(c.site)
	if h == nil {
		return false
	}
	root := c.Heap.RootOf(h.path)
	return root != nil && root.Kind == sample.RootGoroutine && len(root.Sharers) == 0 && c.freedShare() <= freedLittle.v() && c.runsAlong(root.Func)
}

// runsAlong reports whether as many goroutines that began with a function were there at nearly all
// looks since the first third of the run, and no more: they are loops, and no calls. What the
// compiler wraps a go statement with arguments in is in no stack: then those count that the function
// with the statement began. Of a short run, with few looks after that third, all count.
func (c *Case) runsAlong(function string) bool {
	begun := func(s *SiteSnapshot) (n int) { return s.Begun[function] }
	if creator, _, wrapped := strings.Cut(function, ".gowrap"); wrapped {
		begun = func(s *SiteSnapshot) (n int) { return s.Begun[begunBy+creator] }
	}
	if c.site == nil {
		return false
	}
	looks, same := c.site.looksLike(begun, c.outcome.MomentElapsed/3)
	if looks < int(fewestReadings.v()) {
		looks, same = c.site.looksLike(begun, 0)
	}
	return looks >= int(fewestReadings.v()) && float64(same) >= stillRunning.v()*float64(looks)
}

// looksLike counts the looks at goroutines from a time on, and at how many there were as many as at the
// first of them, and not none.
func (s *Site) looksLike(begun func(*SiteSnapshot) int, from float64) (looks, same int) {
	n := -1
	for i := range s.Course {
		k := &s.Course[i]
		if !k.Goroutines || k.At < from {
			continue
		}
		if n < 0 {
			n = begun(k)
		}
		looks++
		if n > 0 && begun(k) == n {
			same++
		}
	}
	return looks, same
}

// sameGoroutines reports whether there were as many goroutines at nearly all samples since the first third
// of the run, and for some seconds: none began and none ended. A few that keep memory then are loops; of many
// it says nothing, since many calls can begin at once.
func (c *Case) sameGoroutines() bool {
	at, n := c.untilMoment(c.Ticks.Goroutines)
	from := nearestTo(at, c.outcome.MomentElapsed/3)
	if from < 0 || len(at)-from < int(manyReadings.v()) || at[len(at)-1]-at[from] < shortestRise.v() {
		return false
	}
	same := 0
	for _, v := range n[from:] {
		if v == n[len(n)-1] {
			same++
		}
	}
	return float64(same) >= stillRunning.v()*float64(len(n)-from)
}
