package main

import "math/rand/v2"

// services are programs shaped like real ones, many around a public module. Their
// answers were not looked at while they were written.
var services = []*family{
	// The registry holds the label, which is as long as what a client sent.
	with(small, leak("labels", "latency", "HistogramVec", "metricMap", "metrics", "prometheus")),
	leak("afterfunc", "cancelCtx", "context", "afterFunc", "children"),
	// What nobody takes out any more waits in a queue: both are true.
	queues(leak("hub", "clients", "queue", "hub")),
	queues(with(large, leak("retries", "waiting", "schedule", "dispatcher"))),
	leak("orderids", "seen", "desk"),
	leak("expiry", "leases", "btree", "BTree", "store"),
	leak("tokens", "items", "cache", "verifier"),
	leak("costs", "pages", "ristretto", "store", "shardedMap", "lockedMap"),
	with(large, leak("cronjobs", "jobs", "cron", "Cron", "entries", "service")),
	with(large, leak("regexcache", "compiled", "searcher")),

	waits("flights", "main.(*database).query", "main.(*front).customer"),
	waits("hedged", "main.(*balancer).get"),
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
