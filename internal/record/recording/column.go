package recording

import (
	"database/sql/driver"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// column is one column of a group: its name in the tables, and where its value
// lies in the group.
type column[T any] struct {
	name string
	at   func(*T) any // a pointer to the member
}

// The groups of a Point and of a Moment. The first column of a group is never
// NULL where the group was seen: NULL there is a nil group.
var (
	cgroupColumns = []column[sample.Cgroup]{
		{"usage", func(g *sample.Cgroup) any { return &g.Usage }},
		{"peak", func(g *sample.Cgroup) any { return &g.Peak }},
		{"usage_limit", func(g *sample.Cgroup) any { return &g.Limit }},
	}
	statColumns = []column[sample.CgroupStat]{
		{"anon", func(g *sample.CgroupStat) any { return &g.Anon }},
		{"page_cache", func(g *sample.CgroupStat) any { return &g.PageCache }},
		{"shmem", func(g *sample.CgroupStat) any { return &g.Shmem }},
		{"kernel", func(g *sample.CgroupStat) any { return &g.Kernel }},
		{"sock", func(g *sample.CgroupStat) any { return &g.Sock }},
		{"active_file", func(g *sample.CgroupStat) any { return &g.ActiveFile }},
		{"inactive_file", func(g *sample.CgroupStat) any { return &g.InactiveFile }},
		{"dirty", func(g *sample.CgroupStat) any { return &g.Dirty }},
		{"writeback", func(g *sample.CgroupStat) any { return &g.Writeback }},
		{"kernel_stack", func(g *sample.CgroupStat) any { return &g.KernelStack }},
		{"page_tables", func(g *sample.CgroupStat) any { return &g.PageTables }},
		{"slab", func(g *sample.CgroupStat) any { return &g.Slab }},
		{"major_faults", func(g *sample.CgroupStat) any { return &g.MajorFaults }},
		{"refaults", func(g *sample.CgroupStat) any { return &g.Refaults }},
		{"scanned", func(g *sample.CgroupStat) any { return &g.Scanned }},
	}
	eventsColumns = []column[sample.CgroupEvents]{
		{"events_max", func(g *sample.CgroupEvents) any { return &g.Max }},
		{"events_high", func(g *sample.CgroupEvents) any { return &g.High }},
		{"events_oom", func(g *sample.CgroupEvents) any { return &g.OOM }},
		{"events_oom_kill", func(g *sample.CgroupEvents) any { return &g.OOMKill }},
	}
	pressureColumns = []column[sample.Pressure]{
		{"pressure_some10", func(g *sample.Pressure) any { return &g.Some10 }},
		{"pressure_full10", func(g *sample.Pressure) any { return &g.Full10 }},
		{"pressure_some_total", func(g *sample.Pressure) any { return &g.SomeTotal }},
		{"pressure_full_total", func(g *sample.Pressure) any { return &g.FullTotal }},
	}
	hostColumns = []column[sample.Host]{
		{"host_total", func(g *sample.Host) any { return &g.Total }},
		{"host_available", func(g *sample.Host) any { return &g.Available }},
	}
	residentColumns = []column[sample.Resident]{
		{"resident", func(g *sample.Resident) any { return &g.Total }},
		{"shared", func(g *sample.Resident) any { return &g.Shared }},
		{"threads", func(g *sample.Resident) any { return &g.Threads }},
		{"user_time", func(g *sample.Resident) any { return &g.User }},
		{"system_time", func(g *sample.Resident) any { return &g.System }},
		{"process_faults", func(g *sample.Resident) any { return &g.Majflt }},
	}
	residencyColumns = []column[sample.Residency]{
		{"pages_anon", func(g *sample.Residency) any { return &g.Anon }},
		{"pages_file", func(g *sample.Residency) any { return &g.File }},
		{"pages_shmem", func(g *sample.Residency) any { return &g.Shmem }},
		{"pages_swap", func(g *sample.Residency) any { return &g.Swap }},
		{"go_known", func(g *sample.Residency) any { return &g.GoKnown }},
		{"pages_go_objects", func(g *sample.Residency) any { return &g.GoObjects }},
		{"pages_go_idle", func(g *sample.Residency) any { return &g.GoIdle }},
		{"pages_go_stacks", func(g *sample.Residency) any { return &g.GoStacks }},
		{"pages_go_runtime", func(g *sample.Residency) any { return &g.GoRuntime }},
		{"pages_c_malloc", func(g *sample.Residency) any { return &g.CMalloc }},
		{"pages_mmap", func(g *sample.Residency) any { return &g.Mmap }},
		{"pages_image", func(g *sample.Residency) any { return &g.Image }},
		{"untouched", func(g *sample.Residency) any { return &g.Untouched }},
		{"untouched_new", func(g *sample.Residency) any { return &g.UntouchedNew }},
		{"vm_pte", func(g *sample.Residency) any { return &g.PageTables }},
		{"pages_c_stacks", func(g *sample.Residency) any { return &g.CStacks }},
		{"c_stacks", func(g *sample.Residency) any { return &g.CStackCount }},
	}
	runtimeColumns = []column[sample.Runtime]{
		{"gogc", func(g *sample.Runtime) any { return &g.GOGC }},
		{"memory_limit", func(g *sample.Runtime) any { return &g.MemoryLimit }},
		{"heap_live", func(g *sample.Runtime) any { return &g.HeapLive }},
		{"heap_marked", func(g *sample.Runtime) any { return &g.HeapMarked }},
		{"heap_goal", func(g *sample.Runtime) any { return &g.HeapGoal }},
		{"gc_trigger", func(g *sample.Runtime) any { return &g.Trigger }},
		{"total_alloc", func(g *sample.Runtime) any { return &g.TotalAlloc }},
		{"total_free", func(g *sample.Runtime) any { return &g.TotalFree }},
		{"heap_in_use", func(g *sample.Runtime) any { return &g.HeapInUse }},
		{"heap_free", func(g *sample.Runtime) any { return &g.HeapFree }},
		{"heap_released", func(g *sample.Runtime) any { return &g.HeapReleased }},
		{"mapped_ready", func(g *sample.Runtime) any { return &g.MappedReady }},
		{"stack_in_use", func(g *sample.Runtime) any { return &g.StackInUse }},
		{"stack_sys", func(g *sample.Runtime) any { return &g.StackSys }},
		{"mspan_sys", func(g *sample.Runtime) any { return &g.MSpanSys }},
		{"mcache_sys", func(g *sample.Runtime) any { return &g.MCacheSys }},
		{"buck_hash", func(g *sample.Runtime) any { return &g.BuckHash }},
		{"gc_sys", func(g *sample.Runtime) any { return &g.GCSys }},
		{"other_sys", func(g *sample.Runtime) any { return &g.OtherSys }},
		{"num_gc", func(g *sample.Runtime) any { return &g.NumGC }},
		{"num_forced_gc", func(g *sample.Runtime) any { return &g.NumForcedGC }},
		{"gc_phase", func(g *sample.Runtime) any { return &g.GCPhase }},
		{"last_gc", func(g *sample.Runtime) any { return &g.LastGC }},
		{"pause_total", func(g *sample.Runtime) any { return &g.PauseTotal }},
		{"gc_assist_time", func(g *sample.Runtime) any { return &g.GCAssist }},
		{"gc_dedicated_time", func(g *sample.Runtime) any { return &g.GCDedicated }},
		{"gc_idle_time", func(g *sample.Runtime) any { return &g.GCIdle }},
		{"gc_pause_time", func(g *sample.Runtime) any { return &g.GCPause }},
		{"cpu_total", func(g *sample.Runtime) any { return &g.CPUTotal }},
		{"gc_cpu_fraction", func(g *sample.Runtime) any { return &g.GCCPUFraction }},
		{"goroutines", func(g *sample.Runtime) any { return &g.Goroutines }},
		{"profile_rate", func(g *sample.Runtime) any { return &g.ProfileRate }},
	}
	livenessColumns = []column[sample.Liveness]{
		{"live_objects", func(g *sample.Liveness) any { return &g.Objects }},
		{"live_bytes", func(g *sample.Liveness) any { return &g.Bytes }},
		{"live_large", func(g *sample.Liveness) any { return &g.Large }},
		{"live_took", func(g *sample.Liveness) any { return &g.Took }},
	}
)

// names are the names of a group's columns, each after the prefix.
func names[T any](prefix string, columns []column[T]) []string {
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = prefix + c.name
	}
	return list
}

// put appends a group's values to a row; a nil group is all NULL.
func put[T any](row []driver.Value, group *T, columns []column[T]) []driver.Value {
	for _, c := range columns {
		if group == nil {
			row = append(row, nil)
		} else {
			row = append(row, encode(c.at(group)))
		}
	}
	return row
}

// take reads a group from the front of a row and returns the rest of the row.
func take[T any](row []driver.Value, columns []column[T]) (*T, []driver.Value) {
	rest := row[len(columns):]
	if row[0] == nil {
		return nil, rest
	}
	group := new(T)
	for i, c := range columns {
		decode(c.at(group), row[i])
	}
	return group, rest
}
