package recording

import (
	"fmt"
	"slices"
)

// Column is a handle on numbers of the table sample or process_sample, or on a difference
// of two of them. Readers name columns by it, so that a name that is misspelled does not
// compile. Units are those of the table (docs/recording.md): bytes, nanoseconds, counts.
type Column struct {
	name string
	less string // what is taken off of the column that name begins with; "": nothing
	from string // that column, where less is not ""
}

// Name is what the column is called in its table, or where it is shown.
func (c Column) Name() string { return c.name }

// Of the table sample.
var (
	ColUsage             = Column{name: "usage"}
	ColPeak              = Column{name: "peak"}
	ColUsageLimit        = Column{name: "usage_limit"}
	ColAnon              = Column{name: "anon"}
	ColPageCache         = Column{name: "page_cache"}
	ColShmem             = Column{name: "shmem"}
	ColKernel            = Column{name: "kernel"}
	ColMajorFaults       = Column{name: "major_faults"}
	ColRefaults          = Column{name: "refaults"}
	ColEventsMax         = Column{name: "events_max"}
	ColEventsOOMKill     = Column{name: "events_oom_kill"}
	ColPressureSome10    = Column{name: "pressure_some10"}
	ColPressureSomeTotal = Column{name: "pressure_some_total"}
	ColPressureFullTotal = Column{name: "pressure_full_total"}
	ColHostAvailable     = Column{name: "host_available"}
	ColUnchanged         = Column{name: "unchanged"}

	// ColCommitted is the charge that the kernel cannot take back by dropping page cache.
	ColCommitted = Column{name: "committed", from: "usage", less: "page_cache"}
)

// Of the table process_sample.
var (
	ColResident        = Column{name: "resident"}
	ColShared          = Column{name: "shared"}
	ColUserTime        = Column{name: "user_time"}
	ColSystemTime      = Column{name: "system_time"}
	ColGOGC            = Column{name: "gogc"}
	ColMemoryLimit     = Column{name: "memory_limit"}
	ColHeapLive        = Column{name: "heap_live"}
	ColHeapMarked      = Column{name: "heap_marked"}
	ColHeapGoal        = Column{name: "heap_goal"}
	ColGCTrigger       = Column{name: "gc_trigger"}
	ColTotalAlloc      = Column{name: "total_alloc"}
	ColTotalFree       = Column{name: "total_free"}
	ColHeapInUse       = Column{name: "heap_in_use"}
	ColHeapFree        = Column{name: "heap_free"}
	ColMappedReady     = Column{name: "mapped_ready"}
	ColNumGC           = Column{name: "num_gc"}
	ColNumForcedGC     = Column{name: "num_forced_gc"}
	ColGCPhase         = Column{name: "gc_phase"}
	ColGCAssistTime    = Column{name: "gc_assist_time"}
	ColGCDedicatedTime = Column{name: "gc_dedicated_time"}
	ColGCPauseTime     = Column{name: "gc_pause_time"}
	ColCPUTotal        = Column{name: "cpu_total"}
	ColGCCPUFraction   = Column{name: "gc_cpu_fraction"}
	ColGoroutines      = Column{name: "goroutines"}

	// ColAnonymous is resident memory that no file is behind. /proc/PID/statm counts file
	// pages and shared memory as shared (proc(5)).
	ColAnonymous = Column{name: "anonymous", from: "resident", less: "shared"}
)

// columns are those of a table that a handle needs.
func (c Column) columns() []string {
	if c.less == "" {
		return []string{c.name}
	}
	return []string{c.from, c.less}
}

// sql is the column's value in a query. It is NULL where a part of it is.
func (c Column) sql() string {
	if c.less == "" {
		return c.name
	}
	return "(" + c.from + " - " + c.less + ")"
}

// valueOf is what a query of this recording reads for a column: NULL where a recording
// of an older version does not have it.
func (r *Reader) valueOf(t *table, c Column) (string, error) {
	for _, name := range c.columns() {
		if !slices.Contains(t.columns, name) {
			return "", fmt.Errorf("table %s has no column %q", t.name, name)
		}
		if !r.has(t.name, name) {
			return "NULL", nil
		}
	}
	return c.sql(), nil
}
