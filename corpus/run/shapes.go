package main

import (
	"math"
	"math/rand/v2"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

// most is how much a program may make in all, in bytes: two run at once.
const most = 320 * mib

// least is how much a fault makes in all, in bytes: less is nothing to tell of.
const least = 10 * mib

// behind is what the background and the program's own steady part keep alive.
func (r *run) behind() int64 {
	if r.Background == "cache" {
		return frame.CacheBytes + r.steady
	}
	return r.steady
}

// headroom is by how much the collector lets a heap grow over what is live.
func (r *run) headroom() float64 {
	if grows := map[string]float64{"50": 1.5, "200": 3}[r.GOGC]; grows > 0 {
		return grows
	}
	return 2
}

// made is what a run makes in all.
func (r *run) made() int64 { return int64(float64(r.Rate) * r.Seconds) }

// under sets the limit: live is what the faulty program has at most, doubled by
// the collector where it is let. A limit that is near has room for the file that
// the background reads: else the page cache would reach it first, and would be as
// true an answer as the fault.
func (r *run) under(live int64) {
	switch all := live + r.behind(); {
	case r.LimitKind == "far":
		r.Limit = 4*all + 64*mib
	case r.LimitKind == "near":
		r.Limit = int64(float64(all)*1.1*r.headroom()) + 24*mib
		if r.Background == "pagecache" {
			r.Limit += frame.FileBytes
		}
	case r.LimitKind == "killed":
		r.Limit = r.behind() + live*11/20 + 8*mib
	}
}

func (r *run) only(rng *rand.Rand, kinds ...string) { r.LimitKind = kinds[rng.IntN(len(kinds))] }

// between is a random whole number of MiB, as bytes.
func between(rng *rand.Rand, low, high int) int64 { return int64(low+rng.IntN(high-low+1)) * mib }

// grows draws the settings: it makes something at a rate until its end. A repaired one has made the 500 pieces that it
// may keep in a quarter of its time: from then on it is flat.
func grows(r *run, rng *rand.Rand) { r.grow(rng, 4<<10, 16<<10, 64<<10) }

func (r *run) grow(rng *rand.Rand, units ...int) {
	r.Total = 0
	r.Rate = []int64{mib / 2, 2 * mib, 5 * mib, 12 * mib, 30 * mib}[rng.IntN(5)]
	r.Rate = max(min(r.Rate, int64(most/r.Seconds)), int64(least/r.Seconds))
	r.Unit = units[rng.IntN(len(units))]
	if r.LimitKind == "killed" {
		r.Rate = max(r.Rate, int64(96*mib/r.Seconds))
	}
	r.under(r.made())
	if !r.faulty {
		r.Rate = max(r.Rate, int64(500*2048*4/r.Seconds))
		r.Unit = min(max(int(r.made()/4/500), 2048), 64<<10)
		if r.Limit > 0 { // it is to survive, with its garbage
			live := r.behind() + 500*int64(r.Unit)
			r.Limit = max(r.Limit, int64(float64(live)*1.1*r.headroom())+32*mib)
		}
	}
}

// piles draws the settings: larger pieces, since each has a goroutine or a connection.
func piles(r *run, rng *rand.Rand) {
	r.grow(rng, 32<<10, 64<<10)
	if r.args[1] == "net" { // it has two descriptors for each, of some thousands
		r.Unit = 128 << 10
	}
}

func mapped(r *run, rng *rand.Rand) { r.grow(rng, 64<<10, 256<<10) }

// decoded draws the settings: sixteen threads of 128 pages, as many as malloc has arenas on two processors, and 160 MiB
// or more: what malloc keeps of less harms nobody where no limit is near.
func decoded(r *run, rng *rand.Rand) {
	r.grow(rng, 64<<10)
	r.Rate = max(r.Rate, int64(160*mib/r.Seconds))
	r.Unit = int(r.made() / 16 / 128)
	if r.faulty {
		r.under(r.made())
	}
}

// scratch draws the settings: files in memory are charged to the cgroup alone.
func scratch(r *run, rng *rand.Rand) {
	r.grow(rng, mib)
	r.Unit = mib
	if r.LimitKind == "none" {
		r.LimitKind = "far"
		r.under(r.made())
	}
}

// bodies draws the settings: eight bodies of Unit bytes at once, each of about a second.
func bodies(r *run, rng *rand.Rand) {
	r.Unit = int(between(rng, 6, 14))
	r.Rate = int64(r.Unit) * 4 / 5
	r.Seconds = max(r.Seconds, 4)
	r.under(8 * int64(r.Unit) * 2)
}

// oneValue draws the settings: a value of Total, and a copy of it, every now and then.
func oneValue(r *run, rng *rand.Rand) {
	r.Total, r.Rate = between(rng, 40, 100), 0
	if r.family.name == "appenddouble" && !r.faulty && r.LimitKind == "killed" {
		r.LimitKind = "near" // the arrays of two rounds are there at once
	}
	r.under(2 * r.Total)
}

// queued draws the settings: jobs come for half of the time, and two thirds of them wait.
func queued(r *run, rng *rand.Rand) {
	r.Seconds, r.Stopped = max(r.Seconds, 8), false
	r.Rate = int64(float64(between(rng, 120, 300)) / r.Seconds)
	r.Unit = []int{16 << 10, 64 << 10}[rng.IntN(2)]
	r.Total = 2 * r.made()
	r.under(r.made() / 3)
	if !r.faulty && r.Limit > 0 {
		r.Limit = max(r.Limit, 2*r.behind()+64*mib)
	}
}

// pooled draws the settings: 64 buffers of Unit bytes in the end.
func pooled(r *run, rng *rand.Rand) {
	r.Unit, r.Total, r.Rate = int(between(rng, 1, 2)), 0, 0
	r.under(64 * int64(r.Unit))
	if !r.faulty && r.LimitKind == "killed" {
		r.LimitKind = "near" // what is large is garbage then, and needs its room
		r.under(64 * int64(r.Unit))
	}
}

// busy draws the settings: as much garbage as it can make.
func busy(r *run, rng *rand.Rand) {
	r.only(rng, "none", "none", "far")
	r.Background, r.Rate, r.Total = "none", 0, 0
	r.under(16 * mib)
}

// unaware draws the settings: what is live fits, what the collector lets it grow to does not.
func unaware(r *run, rng *rand.Rand) {
	r.Seconds, r.LimitKind, r.GOGC, r.GOMEMLIMIT = max(r.Seconds, 8), "killed", "", 0
	r.Total, r.Rate = between(rng, 50, 130), between(rng, 20, 40)
	live := r.Total + r.behind()
	r.Unit, r.Limit, r.soft = 16<<10, live*29/20+12*mib, live*5/4+8*mib
}

// spirals draws the settings: a soft limit just above what is live, of small objects.
func spirals(r *run, rng *rand.Rand) {
	r.only(rng, "none", "far")
	r.Seconds, r.GOGC, r.Total, r.Rate, r.Unit = max(r.Seconds, 8), "", between(rng, 60, 120), 40*mib, 512
	live := r.Total*5/4 + r.behind() // with the map
	r.GOMEMLIMIT = live
	if !r.faulty {
		r.GOMEMLIMIT = live * 2
	}
	r.under(2 * live)
}

// tooLarge draws the settings: a table that does not fit, loaded at once. Repaired, a quarter.
func tooLarge(r *run, rng *rand.Rand) {
	r.LimitKind, r.Total, r.Rate = "killed", between(rng, 100, 260), []int64{0, 60 * mib, 150 * mib}[rng.IntN(3)]
	r.Unit = []int{64 << 10, mib}[rng.IntN(2)]
	r.Limit = r.Total*3/5 + r.behind()*2 + 8*mib
}

// threads draws the settings: each needs some 24 KiB of the kernel's and the runtime's.
func threads(r *run, rng *rand.Rand) {
	r.only(rng, "none", "far", "near")
	r.Unit, r.Total = 24<<10, int64(3000+rng.IntN(6000))*(24<<10)
	r.Rate = int64(float64(r.Total) / r.Seconds * 4) // all are there after a quarter
	r.under(r.Total)
}

func parked(r *run, rng *rand.Rand) {
	r.only(rng, "none", "far", "near")
	r.Unit, r.Total, r.Rate = 4<<10, int64(40_000+rng.IntN(60_000))*(4<<10), 0
	r.under(r.Total)
	if r.LimitKind == "near" {
		r.Limit = r.Total*3/2 + 2*r.behind() + 16*mib
	}
}

// virtual draws the settings: an amount that no page is there for.
func virtual(r *run, rng *rand.Rand) {
	r.only(rng, "none", "far")
	r.Unit = int(between(rng, 2, 8))
	r.Total = between(rng, 300, 900)
	r.Rate = int64(float64(r.Total) / r.Seconds * 4)
	r.under(64 * mib)
}

func crashes(r *run, rng *rand.Rand) {
	r.only(rng, "none", "far")
	r.Total, r.Rate, r.Unit = 52*mib, int64(52*mib/r.Seconds*3/2), 64<<10
	r.under(r.Total)
}

// fills draws the settings: a cache that is full after two fifths of the time.
func fills(r *run, rng *rand.Rand) {
	r.only(rng, "none", "far", "near")
	r.Total, r.Unit = between(rng, 24, 140), []int{4 << 10, 16 << 10}[rng.IntN(2)]
	r.Rate = int64(float64(r.Total) / r.Seconds * 5 / 2)
	r.under(r.Total)
}

// batch draws the settings: it ends when it is done, after about its time.
func batch(r *run, rng *rand.Rand) {
	r.only(rng, "none", "far")
	r.Stopped = false
	r.Total, r.Unit = between(rng, 48, 240), []int{1 << 10, 8 << 10}[rng.IntN(2)]
	r.Rate = int64(float64(r.Total) / r.Seconds * 4 / 3)
	r.under(r.Total)
}

func rises(r *run, rng *rand.Rand) {
	batch(r, rng)
	r.LimitKind = "killed"
	r.under(r.Total)
}

func sorts(r *run, rng *rand.Rand) {
	r.only(rng, "none", "far")
	r.Total, r.Rate = between(rng, 8, 32), 0
	r.under(4 * r.Total)
}

// steady draws the settings: all of it in the first moments, and flat from there.
func steady(r *run, rng *rand.Rand) {
	r.only(rng, "none", "far", "near")
	r.Total, r.Rate, r.Unit = between(rng, 60, 220), 0, []int{4 << 10, 32 << 10}[rng.IntN(2)]
	r.under(r.Total)
}

// cached draws the settings: a file, larger than the limit where that is near.
func cached(r *run, rng *rand.Rand) {
	r.only(rng, "none", "far", "near")
	r.Total, r.Rate = between(rng, 96, 240), 0
	r.under(r.Total)
	if r.LimitKind == "near" {
		r.Limit = r.Total/2 + 2*r.behind() + 24*mib
	}
}

// readings is how often the live heap is known at the least: a collection ends
// each time that it has grown by GOGC percent, from 4 MiB.
func (r *run) readings() int {
	live := r.made()
	if r.Total > 0 {
		live = r.Total
	}
	live += r.behind()
	if r.LimitKind == "killed" {
		live = min(live, r.Limit)
	}
	n := int(math.Log(max(1, float64(live)/(4*mib))) / math.Log(r.headroom()))
	if r.Background == "json" {
		n += int(r.Seconds)
	}
	return n
}
