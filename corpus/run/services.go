package main

import "math/rand/v2"

// services are programs shaped like real ones, many around a public module. Their
// answers were not looked at while they were written.
var services = []*family{
	// The registry holds the label, which is as long as what a client sent.
	litters(with(small, leak("labels", "latency", "HistogramVec", "metricMap", "metrics", "prometheus"))),
	leak("afterfunc", "cancelCtx", "context", "afterFunc", "children"),
	// What nobody takes out any more waits in a queue: both are true.
	queues(leak("hub", "clients", "queue", "hub")),
	litters(queues(with(large, leak("retries", "waiting", "schedule", "dispatcher")))),
	leak("orderids", "seen", "desk"),
	leak("expiry", "leases", "btree", "BTree", "store"),
	leak("tokens", "items", "cache", "verifier"),
	leak("costs", "pages", "ristretto", "store", "shardedMap", "lockedMap"),
	with(large, leak("cronjobs", "jobs", "cron", "Cron", "entries", "service")),
	litters(with(large, leak("regexcache", "compiled", "searcher"))),

	waits("flights", "main.(*database).query", "main.(*front).customer"),
	waits("hedged", "main.(*balancer).get"),

	leak("encoders", "encoders", "archive", "zstd"),
	// The types are kept by reflect, what it knows of their fields by encoding/json.
	litters(with(medium, leak("schemas", "reflect", "structLookupCache", "fieldCache", "encoding/json", "ptrMap"))),
	litters(with(medium, leak("rpcpending", "pending", "rpc.Client", "caller"))),
	leak("autocomplete", "root", "next", "node", "index"),
	leak("seenset", "seen", "ingester"),
	// The goroutines are net/http's, which was started by no line of the program's;
	// that their connections are kept is as true.
	{name: "idleconns", shape: connections, trend: "growing", hint: true,
		classes: func(r *run) []string { return append(leaks("goroutine-leak")(r), "leak") },
		holder:  []string{"persistConn", "Transport", "net/http", "newClient", "(*crawler).fetch"}},

	{name: "bigjson", shape: documents, classes: firsts, trend: "comes-and-goes"},
	{name: "exports", shape: oneValue, classes: firsts, trend: "comes-and-goes"},
	{name: "thumbnails", shape: pictures, classes: firsts, trend: "comes-and-goes"},
	// One that was killed in the outage was not seen to send the rest.
	{name: "outage", shape: outages, trend: "comes-and-goes", holder: []string{"batch", "exporter"}, classes: func(r *run) []string {
		all := pressed(r, append(spikes(r), "backlog"))
		if r.LimitKind == "killed" {
			all = append(all, "leak")
		}
		return all
	}},
	// A channel that is full is a bound: no leak. What is in it waits, and is needed
	// by a program that is written like that.
	{name: "prefetch", shape: ahead, trend: "flat", holder: []string{"chan", "blocks", "block"}, classes: func(r *run) []string {
		return pressed(r, append(spikes(r), "backlog", "baseline"))
	}},
	{name: "gcpercent", shape: generous, classes: always("gc-unaware"), trend: "flat", hint: true},

	{name: "ttlfill", innocent: true, shape: fills},
	{name: "ringfill", innocent: true, shape: fills},
	{name: "slowwarm", innocent: true, shape: warms},
	{name: "roarindex", innocent: true, shape: steady},
	{name: "boltstore", innocent: true, shape: stored, calm: always("healthy", "page-cache")},
	{name: "relay", innocent: true, shape: relays},
	{name: "csvjob", innocent: true, trend: "unknown", shape: batch},
	{name: "nightly", innocent: true, trend: "comes-and-goes", shape: reports, calm: func(r *run) []string {
		return append(calmly(r), "idle-heap", "burst")
	}},
}

// pressed adds what is true of a run that holds more than fits for seconds: below a
// soft limit the collector spirals; killed at once, nothing can be known.
func pressed(r *run, classes []string) []string {
	if r.LimitKind != "killed" {
		return classes
	}
	if r.GOMEMLIMIT > 0 {
		classes = append(classes, "spiral")
	}
	if r.readings() < 3 {
		classes = append(classes, "baseline", "inconclusive")
	}
	return classes
}

// with gives f another shape.
func with(shape func(*run, *rand.Rand), f *family) *family {
	f.shape = shape
	return f
}

// queues accepts of f, too, that work waits.
func queues(f *family) *family {
	f.classes = func(r *run) []string { return append(leaks("leak")(r), "backlog") }
	return f
}

// litters accepts of f, which makes garbage too, what is as true where the steady
// part and the collector's room over it pass the limit without the fault.
func litters(f *family) *family {
	classes := f.classes
	f.classes = func(r *run) []string {
		all := classes(r)
		if r.LimitKind == "killed" && float64(r.behind())*r.headroom() >= float64(r.Limit) {
			all = append(all, "gc-unaware")
		}
		return all
	}
	return f
}

// firsts is spikes where the first one of all kills: that the program needs more
// than its limit is as true then.
func firsts(r *run) []string {
	if r.LimitKind == "killed" {
		return []string{"burst", "baseline"}
	}
	return spikes(r)
}

// waits is a family of goroutines that wait for ever; at are functions that they
// wait in or were started by.
func waits(name string, at ...string) *family {
	f := leak(name, at...)
	f.classes, f.shape = leaks("goroutine-leak"), medium
	return f
}

// small, medium and large are grows with other pieces: of a short text, of a page,
// of what needs a request or more each.
func small(r *run, rng *rand.Rand)  { r.grow(rng, 2<<10, 4<<10, 8<<10) }
func medium(r *run, rng *rand.Rand) { r.grow(rng, 32<<10, 64<<10) }
func large(r *run, rng *rand.Rand)  { r.grow(rng, 64<<10, 128<<10) }

// connections draws the settings: each has two descriptors, of some thousands.
func connections(r *run, rng *rand.Rand) {
	r.grow(rng, 128<<10)
	r.Unit = 128 << 10
}

// documents draws the settings: a file of Total, of which the values need some six times as much.
func documents(r *run, rng *rand.Rand) {
	r.Total, r.Rate = between(rng, 5, 12), 0
	r.under(r.Total * 13 / 2)
}

// pictures draws the settings: of Total in all, decoded.
func pictures(r *run, rng *rand.Rand) {
	r.Total, r.Rate = between(rng, 60, 160), 0
	r.under(r.Total)
}

// outages draws the settings: a third of what is made waits at the end of the second third.
func outages(r *run, rng *rand.Rand) {
	r.Seconds, r.Stopped, r.Total = max(r.Seconds, 8), false, 0
	r.Rate = int64(float64(between(rng, 120, 300)) / r.Seconds)
	r.Unit = []int{16 << 10, 64 << 10}[rng.IntN(2)]
	r.under(r.made() / 3)
	if !r.faulty && r.Limit > 0 {
		r.Limit = max(r.Limit, 2*r.behind()+64*mib)
	}
}

// ahead draws the settings: 98 blocks of Unit after some three seconds.
func ahead(r *run, rng *rand.Rand) {
	r.Seconds, r.Unit, r.Rate = max(r.Seconds, 8), int(between(rng, 1, 2)), 0
	r.Total = 98 * int64(r.Unit)
	if !r.faulty && r.LimitKind == "killed" {
		r.LimitKind = "near" // what was unpacked is garbage then, and needs its room
	}
	r.under(r.Total)
}

// generous draws the settings: the limit has room for twice and a half what is live, at the most.
func generous(r *run, rng *rand.Rand) {
	r.Seconds, r.LimitKind, r.GOGC, r.GOMEMLIMIT = max(r.Seconds, 8), "killed", "", 0
	r.Total, r.Unit = between(rng, 40, 90), 16<<10
	live := r.Total + r.behind()
	r.Limit, r.soft = live*5/2+16*mib, live*3/2+16*mib
	r.Rate = int64(float64(r.Limit) * 3 / r.Seconds)
}

// warms draws the settings: ten times as many questions as there is room for answers.
func warms(r *run, rng *rand.Rand) {
	fills(r, rng)
	r.Rate *= 4
}

// stored draws the settings: a file that is written as fast as a small machine can.
func stored(r *run, rng *rand.Rand) {
	r.Seconds = max(r.Seconds, 8)
	fills(r, rng)
	r.Total = between(rng, 24, 60)
	r.Rate = int64(float64(r.Total) / r.Seconds * 5 / 2)
	r.under(r.Total)
}

// relays draws the settings: a connection for each piece, of which a machine has some ten thousand.
func relays(r *run, rng *rand.Rand) {
	r.only(rng, "none", "far")
	r.Total, r.Rate = 0, between(rng, 6, 15)
	r.Unit = []int{256 << 10, mib}[rng.IntN(2)]
	r.under(16 * mib)
}

// reports draws the settings: Total at once, every other second, within a room that is large enough.
func reports(r *run, rng *rand.Rand) {
	r.only(rng, "none", "far")
	r.Seconds = max(r.Seconds, 8)
	r.Total, r.Rate = between(rng, 30, 90), 0
	r.under(r.Total * 5 / 2)
}
