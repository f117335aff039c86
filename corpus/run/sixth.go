package main

import (
	"math/rand/v2"
)

// sixth is set F: programs of one more author who read none of the rules, each around a public
// module that no program of the other sets uses. Its runs are long, as those of set C.
var sixth = enduring(
	// A thread of Lua has its stacks made for it, of which nothing is kept.
	strews(with(medium, beside(14*mib, "luascripts", "cancelCtx", "valueCtx", "context", "children", "service", "order"))),
	strews(beside(15*mib, "grouprights", "CachedEnforcer", "DefaultCache", "cacheItem", "cache.Cache", "enforcer", "casbin")),
	// What waits in the pipeline is to be sent, and never is: both are true.
	litters(queues(with(medium, beside(13*mib, "clickpipe", "Pipeline", "cmds", "Cmder", "StatusCmd", "redis", "counter", "pipe")))),
	litters(with(medium, beside(16*mib, "yamuxstreams", "yamux", "Session", "Stream", "recvBuf", "streams"))),
	litters(beside(14*mib, "routetimers", "timers", "metrics", "StandardRegistry", "StandardTimer", "ExpDecaySample", "arbiter", "meters")),
	litters(with(medium, beside(15*mib, "gojarules", "goja", "arrayObject", "Runtime", "objectGoReflect", "seen", "payment"))),
	litters(with(medium, beside(13*mib, "fasttokens", "tokens", "partner", "fasthttp"))),

	// Each has a goroutine of the module's, which says what the closure of the question keeps;
	// that the connection keeps its subscriptions is as true.
	litters(&family{name: "natsreplies", shape: medium, steady: 15 * mib, trend: "growing",
		classes: func(r *run) []string { return append(leaks("goroutine-leak")(r), "leak") },
		holder:  []string{"waitForMsgs", "Subscription", "subs", "nats.Conn", "nats.go", "question", "(*desk).ask"}}),
	// A goroutine keeps its logger and its stack, which is most of it.
	litters(&family{name: "joblogs", shape: medium, steady: 14 * mib, trend: "growing",
		classes: leaks("goroutine-leak"),
		holder:  []string{"lumberjack", "millRun", "(*runner).run", "(*runner).work"}}),
	stream(16*mib, waits("backoffevents", "main.(*sender).deliver", "main.(*sender).take", "backoff.Retry")),

	&family{name: "zstduploads", shape: streamed, steady: 15 * mib, classes: always("native"), trend: "growing", hint: true, cgo: true},
	&family{name: "aferospool", shape: scratch, steady: 17 * mib, classes: always("shmem"), trend: "growing", hint: true},
	&family{name: "envgc", shape: generous, classes: always("gc-unaware"), trend: "flat", hint: true},

	// One that was killed while the readings come was not seen to store the rest.
	also("leak", &family{name: "channelsink", shape: shipped, steady: 15 * mib, trend: "comes-and-goes",
		holder: []string{"queue.Queue", "InfiniteChannel", "channels", "buffer", "reading"}, classes: func(r *run) []string {
			return pressed(r, append(spikes(r), "backlog"))
		}}),
	once(12*mib, "sqlxall", selected),
	// While they come the uploads are goroutines: one that was killed then was not seen to end
	// them.
	also("goroutine-leak", once(16*mib, "imagingfan", pictures)),

	&family{name: "ccachefull", innocent: true, shape: warms},
	&family{name: "digestreport", innocent: true, steady: 10 * mib, trend: "comes-and-goes", shape: reports, calm: restful},
	&family{name: "dailyradix", innocent: true, trend: "comes-and-goes", shape: rebuilds, calm: restful},
	&family{name: "puddlewarm", innocent: true, shape: fills},
	&family{name: "buntchurn", innocent: true, shape: steady},
	&family{name: "roadgraph", innocent: true, trend: "unknown", shape: batch},
	&family{name: "clickjson", innocent: true, shape: clicks},
	&family{name: "bloomdays", innocent: true, shape: filtered},
)

// streamed draws the settings: a stream has more than a MiB, and there are some dozens.
func streamed(r *run, rng *rand.Rand) {
	r.grow(rng, 256<<10)
	r.Unit = max(r.Unit, 256<<10)
}

// selected draws the settings: of a module that takes some minutes to be compiled.
func selected(r *run, rng *rand.Rand) {
	r.Seconds = max(r.Seconds, 12)
	oneValue(r, rng)
	r.Toolchain = ""
}

// clicks draws the settings: what is live is there from the start, and some MiB of text come a second.
func clicks(r *run, rng *rand.Rand) {
	steady(r, rng)
	r.Total, r.Rate, r.Unit = between(rng, 60, 160), between(rng, 2, 8), 4<<10
	r.GOGC = ""
	r.under(r.Total)
}

// filtered draws the settings: the filters are there from the start, and one of four is replaced.
func filtered(r *run, rng *rand.Rand) {
	steady(r, rng)
	r.Total = between(rng, 40, 120)
	r.under(r.Total * 5 / 4)
}
