package main

import (
	"math/rand/v2"
)

// fifth is set E: programs of yet another author who read none of the rules, around what public
// modules keep and for whom. Its runs are long, as those of set C.
var fifth = enduring(
	litters(beside(14*mib, "breadcrumbs", "byClaim", "trail", "Entry", "document")),
	litters(with(medium, beside(13*mib, "reloaduse", "middleware", "Echo", "quotas", "api"))),
	litters(beside(16*mib, "spanevents", "events", "evictedQueue", "recordingSpan", "span", "Event")),
	strews(beside(13*mib, "stmtcache", "cache", "StmtCache", "squirrel", "openStmt", "driverConn", "stmt", "sql.DB")),
	strews(with(medium, beside(13*mib, "descriptors", "schemas", "protoregistry", "Files", "descsByName", "filesByPath", "filedesc", "station"))),
	litters(beside(16*mib, "requestnotes", "notes", "note", "open", "http.Request")),
	litters(with(medium, beside(14*mib, "lazyfields", "lazyWithCore", "zapcore", "Core", "Logger", "payment"))),
	litters(with(large, beside(14*mib, "wasmfilter", "moduleList", "Store", "ModuleInstance", "MemoryInstance", "wasm", "wazero"))),
	// More comes than goes: what waits for ever is kept, and both are true.
	litters(queues(with(medium, beside(13*mib, "mailpool", "waitingQueue", "Deque", "WorkerPool", "workerpool", "mailer", "mail")))),
	litters(with(medium, beside(13*mib, "hijacked", "clients", "client", "server"))),

	// The goroutines are the module's, and what they keep is a stream of it.
	litters(&family{name: "firstoffer", shape: medium, steady: 17 * mib, trend: "growing", hint: true,
		classes: func(r *run) []string { return append(leaks("goroutine-leak")(r), "leak") },
		holder:  []string{"clientStream", "newClientStream", "recvBuffer", "transport", "grpc", "ClientConn", "(*desk).best"}}),
	stream(16*mib, waits("tenantcaches", "main.(*importer).run", "ttlcache", "Start")),

	&family{name: "offheap", shape: mapped, steady: 16 * mib, classes: always("native"), trend: "growing", hint: true},

	once(13*mib, "retryupload", oneValue),
	once(12*mib, "xlsxreport", printed),
	&family{name: "pausegc", shape: generous, classes: always("gc-unaware"), trend: "flat", hint: true},

	// Its memory is mapped, and bounded: that is what such a cache is for.
	&family{name: "fastcachefull", innocent: true, shape: mappedFull},
	&family{name: "routes", innocent: true, shape: steady},
	&family{name: "wsclients", innocent: true, shape: steady},
	&family{name: "scrapes", innocent: true, trend: "comes-and-goes", shape: reports, calm: restful},
	&family{name: "solvers", innocent: true, shape: steady},
	&family{name: "fleetstate", innocent: true, shape: warms},
	&family{name: "partitions", innocent: true, shape: fills},
	&family{name: "customerdups", innocent: true, trend: "unknown", shape: batch},
)

// mappedFull draws the settings: a cache whose module gives out its bound in parts of 32 MiB,
// which is full after half of the time.
func mappedFull(r *run, rng *rand.Rand) {
	r.only(rng, "none", "far", "near")
	r.Total, r.Unit = 32*mib*int64(1+rng.IntN(4)), []int{4 << 10, 16 << 10}[rng.IntN(2)]
	r.Rate = int64(float64(r.Total) / r.Seconds * 7 / 2)
	r.under(r.Total)
}
