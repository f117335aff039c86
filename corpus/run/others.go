package main

import (
	"math/rand/v2"
	"slices"
)

// others are programs shaped like real ones, by an author who knew none of the
// rules that they are judged by. They are sets, so that one of them is still
// unknown where answers about another were looked at; the last ones are in third.go, fourth.go, fifth.go and sixth.go.
var others = slices.Concat(othersA, othersB, third, fourth, fifth, sixth)

// sets are names of many families, for -only.
var sets = map[string][]string{"setA": names(othersA), "setB": names(othersB), "setC": names(third), "setD": names(fourth), "setE": names(fifth),
	"setF": names(sixth)}

var othersA = []*family{
	litters(beside(24*mib, "iplimits", "visitors", "visitor", "Guard")),
	litters(with(medium, beside(24*mib, "pricettl", "quotes", "ttlcache", "items", "desk"))),
	beside(24*mib, "userindex", "byMail", "directory"),
	litters(beside(24*mib, "ssehub", "subscribers", "subscriber", "broker")),
	stream(16*mib, waits("grpcwatch", "main.(*stock).follow", "main.(*stock).Watch")),
	with(medium, beside(24*mib, "graphloader", "dataloader", "InMemoryCache", "Loader", "items", "resolver", "shared")),
	litters(beside(20*mib, "reqloggers", "open", "loggers", "zap")),
	{name: "feedpull", shape: pictures, steady: 12 * mib, classes: firsts, trend: "comes-and-goes"},
	{name: "pdfreport", shape: printed, steady: 16 * mib, classes: firsts, trend: "comes-and-goes"},
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

var othersB = []*family{
	beside(16*mib, "spanwatch", "open", "watchdog", "recordingSpan"),
	litters(beside(16*mib, "mailmerge", "tmpl", "common", "layout", "template.Template", "parse.Tree")),
	litters(beside(16*mib, "csvdedupe", "seen", "importer")),
	beside(13*mib, "healthchain", "cause", "last", "failure", "checks", "checker"),
	stream(16*mib, waits("connwait", "main.(*collector).store", "main.(*collector).serve", "pool.(*Pool).Get")),
	stream(0, waits("sshforward", "main.(*gate).pass", "main.(*gate).forward", "main.(*service).serve")),
	with(medium, beside(12*mib, "eventbus", "persistedMessages", "GoChannel", "bus", "message.Message")),
	{name: "memfdspool", shape: scratch, steady: 16 * mib, classes: always("shmem"), trend: "growing", hint: true},
	{name: "cgocodec", shape: mapped, steady: 16 * mib, classes: always("native"), trend: "growing", hint: true, cgo: true},
	beside(16*mib, "memoprice", "results", "memo.Func", "tables", "grid"),
	litters(with(medium, beside(16*mib, "crawltitles", "titles", "html.Node", "crawler"))),
	litters(beside(18*mib, "raftlog", "logs", "InmemStore", "raft")),
	// While they wait the parts are goroutines: one that was killed then was not seen to
	// send them.
	{name: "semuploads", shape: shipped, steady: 12 * mib, trend: "comes-and-goes", holder: []string{"main.(*shipper).ship"}, classes: func(r *run) []string {
		all := pressed(r, append(spikes(r), "backlog"))
		if r.LimitKind == "killed" {
			all = append(all, "goroutine-leak")
		}
		return all
	}},
	// The collector has a quarter of its CPU time; with GOGC=200 a seventh, which need not
	// worry anybody.
	{name: "relabel", shape: busy, steady: 10 * mib, trend: "flat", classes: func(r *run) []string {
		if r.GOGC == "200" {
			return []string{"churn", "healthy"}
		}
		return []string{"churn"}
	}},
	{name: "tightheap", shape: tight, classes: always("spiral"), trend: "flat", hint: true},
	// Killed while it loads: that it needs more than its limit is all that is seen.
	{name: "geofences", shape: tooLarge, classes: always("baseline", "inconclusive"), trend: "unknown", hint: true,
		holder: []string{"districts", "borders", "district"}},

	{name: "freecachefill", innocent: true, shape: fills},
	{name: "steadyqueue", innocent: true, shape: steady},
	{name: "gogctuned", innocent: true, shape: roomy},
	{name: "pagerankjob", innocent: true, trend: "unknown", shape: batch},
}

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

// tiles draws the settings: an export has some tiles, for its cache some 100 KiB of Go's heap come on top for a moment.
func tiles(r *run, rng *rand.Rand) {
	r.grow(rng, mib, 2*mib)
	r.Unit = max(r.Unit, mib)
}

// printed draws the settings: a document of Total when it is done, for which a busy machine needs seconds.
func printed(r *run, rng *rand.Rand) {
	r.Seconds = max(r.Seconds, 8)
	oneValue(r, rng)
}

// imports draws the settings: a transaction of Total, and its pages.
func imports(r *run, rng *rand.Rand) {
	oneValue(r, rng)
	r.Total = between(rng, 30, 60)
	r.under(r.Total * 7 / 4)
}

// merges draws the settings: a store of Total after two fifths of the time; as much again while it is merged.
func merges(r *run, rng *rand.Rand) {
	r.only(rng, "none", "far")
	r.Total, r.Unit = between(rng, 24, 70), []int{4 << 10, 16 << 10}[rng.IntN(2)]
	r.Rate = int64(float64(r.Total) / r.Seconds * 5 / 2)
	r.under(2 * r.Total)
}

// consulted draws the settings: a file of which most is seldom read; where the limit is near it is larger than that,
// what is read often is not.
func consulted(r *run, rng *rand.Rand) { cached(r, rng) }

// rebuilds draws the settings: Total for two indexes, of which one is there all the time.
func rebuilds(r *run, rng *rand.Rand) {
	r.only(rng, "none", "far", "near")
	r.Seconds = max(r.Seconds, 8)
	r.Total, r.Rate = between(rng, 50, 140), 0
	r.under(r.Total)
}

// shipped draws the settings: parts come for two fifths of the time, and half of them wait then.
func shipped(r *run, rng *rand.Rand) {
	r.Seconds, r.Stopped, r.Total = max(r.Seconds, 8), false, 0
	r.Rate = int64(float64(between(rng, 200, 450)) / r.Seconds)
	r.Unit = []int{32 << 10, 64 << 10}[rng.IntN(2)]
	r.under(r.made() / 5)
	if !r.faulty && r.Limit > 0 {
		r.Limit = max(r.Limit, 2*r.behind()+64*mib)
	}
}

// tight draws the settings: a soft limit just above what is live.
func tight(r *run, rng *rand.Rand) {
	spirals(r, rng)
	live := r.Total + r.behind()
	r.GOMEMLIMIT = live + live/16 + 4*mib
	if !r.faulty {
		r.GOMEMLIMIT = live * 2
	}
	r.under(2 * live)
}

// roomy draws the settings: a heap of four times what is live, and nothing near that would be short of it.
func roomy(r *run, rng *rand.Rand) {
	r.only(rng, "none", "far")
	r.Seconds, r.GOGC = max(r.Seconds, 8), ""
	r.Total, r.Rate, r.Unit = between(rng, 20, 60), between(rng, 20, 60), 16<<10
	r.under(4 * r.Total)
}
