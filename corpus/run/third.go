package main

import (
	"math/rand/v2"
	"slices"
)

// third is set C: services and jobs of an author who read none of the rules. Its runs are
// longer than those of the other sets, and half of those of its faults are killed.
var third = lasting(
	litters(with(medium, beside(20*mib, "idempotent", "items", "Store", "kept", "entry", "api"))),
	litters(beside(16*mib, "auditbuf", "trail", "stream", "open", "bytes.Buffer")),
	litters(beside(18*mib, "usertags", "seen", "counter")),
	litters(beside(24*mib, "configwatch", "slots", "signal", "settings", "gateway")),
	serves(litters(beside(20*mib, "exportjobs", "done", "result", "service"))),
	litters(beside(16*mib, "timewheel", "slots", "wheel", "deadline")),
	// Who keeps them is the runtime's own queue of finalizers.
	litters(beside(20*mib, "finblock", "finalizer", "handle", "finq")),
	beside(16*mib, "nankeys", "groups", "group", "board"),
	litters(beside(24*mib, "crawljar", "entries", "cookiejar", "Jar", "comparer")),
	litters(with(small, beside(12*mib, "zipstream", "dir", "zip.Writer", "tape"))),
	beside(24*mib, "windows", "open", "aggregate", "stage"),
	beside(20*mib, "cotext", "paragraphs", "paragraph", "text", "index", "editor"),
	litters(beside(12*mib, "filepoll", "texts", "snapshot", "inbox")),

	stream(16*mib, waits("grepstream", "main.lines", "main.(*searcher).first")),
	stream(24*mib, waits("condqueue", "main.(*queue).work", "main.(*queue).take", "main.newQueue")),
	// The goroutines are the module's; that the connections of a client are kept is as true.
	&family{name: "grpcdial", shape: dialled, steady: 16 * mib, trend: "growing", hint: true,
		classes: func(r *run) []string { return append(leaks("goroutine-leak")(r), "leak") },
		holder:  []string{"ClientConn", "grpc", "transport", "(*shop).there"}},

	&family{name: "redactlog", shape: oneValue, steady: 12 * mib, classes: firsts, trend: "comes-and-goes"},
	&family{name: "tarball", shape: oneValue, steady: 16 * mib, classes: firsts, trend: "comes-and-goes"},
	// While they wait the orders are goroutines: one that was killed then was not seen to
	// write them.
	&family{name: "slowdb", shape: shipped, steady: 16 * mib, trend: "comes-and-goes",
		holder: []string{"main.(*desk).order", "main.(*desk).save", "main.(*desk).take", "database/sql.(*DB).conn"}, classes: func(r *run) []string {
			all := pressed(r, append(spikes(r), "backlog"))
			if r.LimitKind == "killed" {
				all = append(all, "goroutine-leak")
			}
			return all
		}},

	&family{name: "sqlaudit", shape: pages, steady: 16 * mib, classes: always("native"), trend: "growing", hint: true},
	&family{name: "shmring", shape: scratch, steady: 16 * mib, classes: always("shmem"), trend: "growing", hint: true},
	inChild(beside(24*mib, "workerchild", "checked", "worker", "verdict")),
	// It makes a MiB at a time as fast as it can: where the collector has no processor for
	// itself the garbage passes a limit that was meant to be far.
	&family{name: "gzipeach", shape: busy, steady: 10 * mib, trend: "flat", classes: func(r *run) []string {
		if r.Limit > 0 {
			return []string{"churn", "gc-unaware"}
		}
		return []string{"churn"}
	}},
	&family{name: "ballast", shape: generous, classes: always("gc-unaware"), trend: "flat", hint: true},

	&family{name: "ristfull", innocent: true, shape: fills},
	&family{name: "daycurve", innocent: true, trend: "comes-and-goes", shape: curve, calm: func(r *run) []string {
		return append(calmly(r), "idle-heap", "burst")
	}},
	&family{name: "gcoff", innocent: true, shape: wanted},
	&family{name: "backupzip", innocent: true, steady: 8 * mib, trend: "comes-and-goes", shape: reports, calm: func(r *run) []string {
		return append(calmly(r), "idle-heap", "burst")
	}},
	&family{name: "statictables", innocent: true, shape: steady},
	&family{name: "fanburst", innocent: true, steady: 10 * mib, trend: "comes-and-goes", shape: reports, calm: func(r *run) []string {
		return append(calmly(r), "idle-heap", "burst")
	}},
	&family{name: "filecopy", innocent: true, steady: 12 * mib, shape: cached, calm: always("healthy", "page-cache")},
	&family{name: "slidewindow", innocent: true, shape: fills},
)

// lasting draws other lengths and limits for families, before their shapes do.
func lasting(of ...*family) []*family {
	for _, f := range of {
		shape := f.shape
		f.shape = func(r *run, rng *rand.Rand) {
			r.Seconds = pick(rng, 6.0, 8, 10, 12, 14, 17, 21, 25, 30, 40)
			r.LimitKind = pick(rng, "none", "none", "far", "near", "killed", "killed", "killed", "killed")
			shape(r, rng)
		}
	}
	return slices.Clip(of)
}

func serves(f *family) *family {
	f.server = true
	return f
}

// inChild is a family whose memory is that of a process below the one that is started.
func inChild(f *family) *family {
	f.child = true
	return f
}

// dialled draws the settings: a connection and its first answer need some 20 ms.
func dialled(r *run, rng *rand.Rand) {
	r.Seconds = max(r.Seconds, 21)
	connections(r, rng)
}

// pages draws the settings: of a module that takes some minutes to be compiled.
func pages(r *run, rng *rand.Rand) {
	grows(r, rng)
	r.Toolchain = ""
}

// curve draws the settings: Total at the highest, which it needs all of its time for.
func curve(r *run, rng *rand.Rand) {
	r.only(rng, "none", "far", "near")
	r.Stopped, r.Rate = false, 0
	r.Total, r.Unit = between(rng, 40, 140), []int{4 << 10, 16 << 10}[rng.IntN(2)]
	r.under(r.Total)
}

// wanted draws the settings: three times what is live, and a limit with room for it.
func wanted(r *run, rng *rand.Rand) {
	r.only(rng, "none", "far", "near")
	r.GOGC, r.GOMEMLIMIT = "", 0
	r.Total, r.Unit = between(rng, 20, 60), 16<<10
	r.soft = 3*r.Total + 2*r.behind() + 32*mib
	r.Rate = int64(float64(r.soft) * 5 / r.Seconds)
	r.under(r.soft)
}
