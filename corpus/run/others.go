package main

import (
	"math/rand/v2"
	"slices"
)

// others are programs shaped like real ones, by an author who knew none of the
// rules that they are judged by. They are two sets, so that one of them is still
// unknown where answers about the other were looked at.
var others = slices.Concat(othersA, othersB)

// sets are names of many families, for -only.
var sets = map[string][]string{"setA": names(othersA), "setB": names(othersB)}

var othersA = []*family{
	litters(beside(24*mib, "iplimits", "visitors", "visitor", "Guard")),
	litters(with(medium, beside(24*mib, "pricettl", "quotes", "ttlcache", "items", "desk"))),
	beside(24*mib, "userindex", "byMail", "directory"),
	litters(beside(24*mib, "ssehub", "subscribers", "subscriber", "broker")),
	stream(16*mib, waits("grpcwatch", "main.(*stock).follow", "main.(*stock).Watch")),
	with(medium, beside(24*mib, "graphloader", "dataloader", "InMemoryCache", "Loader", "items", "resolver", "shared")),
	litters(beside(20*mib, "reqloggers", "open", "loggers", "zap")),
	{name: "feedpull", shape: pictures, steady: 12 * mib, classes: firsts, trend: "comes-and-goes"},
	{name: "pdfreport", shape: oneValue, steady: 16 * mib, classes: firsts, trend: "comes-and-goes"},
	{name: "tilecache", shape: tiles, steady: 24 * mib, classes: always("native"), trend: "growing", hint: true},
	litters(beside(20*mib, "mqttretain", "Retained", "Topics", "broker", "packets.Packet")),
	litters(beside(24*mib, "dnsanswers", "entries", "entry", "Cache", "resolver")),
	litters(beside(20*mib, "orderevents", "changes", "Order", "open", "Repository")),
	// Its file is as large as the transaction, and where the limit is near that is
	// what usage reaches it by.
	{name: "boltimport", shape: imports, steady: 24 * mib, trend: "comes-and-goes", classes: func(r *run) []string {
		if r.LimitKind == "near" {
			return append(firsts(r), "page-cache")
		}
		return firsts(r)
	}, calm: always("healthy", "page-cache")},
	{name: "manualgc", shape: generous, classes: always("gc-unaware"), trend: "flat", hint: true},

	{name: "lsmcompact", innocent: true, trend: "comes-and-goes", shape: merges, calm: func(r *run) []string {
		return append(calmly(r), "idle-heap", "burst")
	}},
	{name: "bigcachefull", innocent: true, shape: fills},
	{name: "antsburst", innocent: true, steady: 6 * mib, trend: "comes-and-goes", shape: reports, calm: func(r *run) []string {
		return append(calmly(r), "idle-heap", "burst")
	}},
	{name: "mmapreads", innocent: true, shape: consulted, calm: always("healthy", "page-cache")},
	{name: "reindex", innocent: true, trend: "comes-and-goes", shape: rebuilds, calm: func(r *run) []string {
		return append(calmly(r), "idle-heap", "burst")
	}},
}

var othersB = []*family{}

func names(of []*family) (all []string) {
	for _, f := range of {
		all = append(all, f.name)
	}
	return all
}

// stream is a family that keeps steady, and makes garbage for each message.
func stream(steady int64, f *family) *family {
	f.steady = steady
	return litters(f)
}

// tiles: an export has some tiles, for its cache some 100 KiB of Go's heap come on
// top for a moment.
func tiles(r *run, rng *rand.Rand) {
	r.grow(rng, mib, 2*mib)
	r.Unit = max(r.Unit, mib)
}

// imports: a transaction of Total, and its pages.
func imports(r *run, rng *rand.Rand) {
	oneValue(r, rng)
	r.Total = between(rng, 30, 60)
	r.under(r.Total * 7 / 4)
}

// merges: a store of Total after two fifths of the time; as much again while it is
// merged.
func merges(r *run, rng *rand.Rand) {
	r.only(rng, "none", "far")
	r.Total, r.Unit = between(rng, 24, 70), []int{4 << 10, 16 << 10}[rng.IntN(2)]
	r.Rate = int64(float64(r.Total) / r.Seconds * 5 / 2)
	r.under(2 * r.Total)
}

// consulted: a file of which most is seldom read; where the limit is near it is
// larger than that, what is read often is not.
func consulted(r *run, rng *rand.Rand) { cached(r, rng) }

// rebuilds: Total for two indexes, of which one is there all the time.
func rebuilds(r *run, rng *rand.Rand) {
	r.only(rng, "none", "far", "near")
	r.Seconds = max(r.Seconds, 8)
	r.Total, r.Rate = between(rng, 50, 140), 0
	r.under(r.Total)
}
