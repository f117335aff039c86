package main

import (
	"math/rand/v2"
)

// fourth is set D: services, workers and jobs of one more author who read none of the rules,
// around mechanisms that the other sets have not. Its runs are long, as those of set C.
var fourth = enduring(
	litters(with(medium, beside(16*mib, "breakers", "circuits", "breaker", "gateway", "sync.Map", "HashTrieMap"))),
	litters(beside(14*mib, "abandoned", "reservations", "reservation", "desk")),
	litters(beside(18*mib, "lrubytes", "order", "byKey", "cache", "list.List", "list.Element", "tile")),
	litters(beside(20*mib, "followers", "segments", "segment", "record", "leader")),
	litters(beside(22*mib, "snapshots", "readers", "version", "prices", "next")),
	litters(beside(15*mib, "intern", "table", "texts", "decoder")),
	strews(with(queries, beside(20*mib, "expvars", "expvar", "requests", "numbers", "sync.Map", "HashTrieMap"))),
	litters(beside(17*mib, "webhooks", "ServeMux", "mux", "routingNode", "net/http", "service", "pattern")),
	litters(beside(18*mib, "rowsopen", "sql.DB", "database/sql", "driverConn", "dep", "checker")),
	litters(with(medium, beside(16*mib, "emptymaps", "online", "customers", "customer", "fleet"))),
	litters(beside(21*mib, "cancelled", "waiting", "queue", "reminder", "scheduler")),
	litters(beside(20*mib, "ackwindow", "messages", "window", "consumer")),
	litters(with(large, beside(16*mib, "avatars", "avatars", "avatar", "square", "album", "image.RGBA"))),

	// What starts the handlers is net/http; where they wait is a function of the program's.
	with(connections, stream(20*mib, waits("longpoll", "main.(*chat).wait", "main.(*chat).poll", "net/http.(*Server).Serve", "net/http.(*conn).serve"))),
	stream(19*mib, waits("pipefeed", "main.send", "main.(*intake).check", "io.(*pipe).write", "io.(*PipeWriter).Write")),

	once(18*mib, "formread", oneValue),
	once(17*mib, "topsellers", oneValue),
	once(16*mib, "resync", oneValue),
	// While they are asked the panels are goroutines: one that was killed then was not seen
	// to draw them.
	also("goroutine-leak", once(20*mib, "dashboard", pictures)),

	// There is no collection after it has loaded: how much was live then was not seen.
	&family{name: "hostlimit", shape: generous, classes: always("gc-unaware"), trend: "unknown", hint: true},

	&family{name: "twoqueues", innocent: true, shape: fills},
	&family{name: "statements", innocent: true, steady: 11 * mib, trend: "comes-and-goes", shape: reports, calm: restful},
	&family{name: "warmindex", innocent: true, shape: fills},
	&family{name: "rebalance", innocent: true, shape: steady},
	&family{name: "shortconns", innocent: true, steady: 6 * mib, shape: relays},
	&family{name: "geocode", innocent: true, trend: "unknown", shape: batch},
	&family{name: "accesslog", innocent: true, steady: 12 * mib, shape: cached, calm: always("healthy", "page-cache")},
	&family{name: "blockpool", innocent: true, shape: steady},
	&family{name: "dedupdays", innocent: true, shape: fills},
	&family{name: "memtable", innocent: true, steady: 9 * mib, trend: "comes-and-goes", shape: reports, calm: restful},
)

// enduring is lasting, without the shortest: what grows has some seconds until its limit.
func enduring(of ...*family) []*family {
	for _, f := range of {
		shape := f.shape
		f.shape = func(r *run, rng *rand.Rand) {
			r.Seconds = max(r.Seconds, 10)
			shape(r, rng)
		}
	}
	return lasting(of...)
}

// queries: of an address as long as a browser lets it be.
func queries(r *run, rng *rand.Rand) { r.grow(rng, 4<<10, 8<<10) }

// once is a family that has much at one time, every now and then.
func once(steady int64, name string, shape func(*run, *rand.Rand)) *family {
	return litters(&family{name: name, shape: roomFor(shape), steady: steady, classes: firsts, trend: "comes-and-goes"})
}

// roomFor is shape, with a limit that the repaired form survives with its garbage.
func roomFor(shape func(*run, *rand.Rand)) func(*run, *rand.Rand) {
	return func(r *run, rng *rand.Rand) {
		shape(r, rng)
		if !r.faulty && r.Limit > 0 {
			r.Limit = max(r.Limit, int64(float64(r.behind())*1.1*r.headroom())+32*mib)
		}
	}
}

// also accepts class of a run of f that was killed.
func also(class string, f *family) *family {
	classes := f.classes
	f.classes = func(r *run) []string {
		if r.LimitKind == "killed" {
			return append(classes(r), class)
		}
		return classes(r)
	}
	return f
}

// restful is what is true of one whose need comes and goes, with room for it.
func restful(r *run) []string { return append(calmly(r), "idle-heap", "burst") }

// strews is litters of one that makes more garbage than it keeps: the collector's room over
// the steady part is nearly all of the limit where a little of the fault fills the rest.
func strews(f *family) *family {
	classes := f.classes
	f.classes = func(r *run) []string {
		all := classes(r)
		if r.LimitKind == "killed" && float64(r.behind())*r.headroom()*1.3 >= float64(r.Limit) {
			all = append(all, "gc-unaware")
		}
		return all
	}
	return f
}
