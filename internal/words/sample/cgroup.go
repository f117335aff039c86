package sample

// Cgroup is the kernel's account of a memory cgroup: the only figure that a
// limit is compared with. Field comments name the v2 file or key, then v1's.
type Cgroup struct {
	Usage Bytes      // memory.current, memory.usage_in_bytes
	Peak  Opt[Bytes] // memory.peak (since 5.19), memory.max_usage_in_bytes
	Limit Opt[Bytes] // memory.max, memory.limit_in_bytes; absent: no limit

	Stat   *CgroupStat
	Events *CgroupEvents
}

// CgroupStat is how Usage divides, made the same for v1 and v2: its rows are
// disjoint. Their sum falls short of Usage by the kernel's per-CPU reserve and
// its batched statistics.
type CgroupStat struct {
	Anon      Bytes      // anon, rss (v1's rss means anonymous)
	PageCache Bytes      // file - shmem, cache - shmem
	Shmem     Bytes      // shmem: tmpfs and shared memory, not reclaimable without swap
	Kernel    Bytes      // kernel (since 5.18; else its parts summed), memory.kmem.usage_in_bytes
	Sock      Opt[Bytes] // sock; in v1 counted apart from Usage, hence absent

	// Parts and rates, which overlap the rows above.
	ActiveFile, InactiveFile Bytes
	Dirty, Writeback         Bytes
	KernelStack, PageTables  Opt[Bytes] // v2 only
	Slab                     Opt[Bytes] // v2 only
	MajorFaults              uint64     // pgmajfault
	Refaults                 Opt[uint64]
	Scanned                  Opt[uint64] // pgscan
}

// Reclaimable is the page cache, which the kernel takes back before it kills.
func (s CgroupStat) Reclaimable() Bytes { return s.PageCache }

// CgroupEvents are counters since the cgroup was made.
type CgroupEvents struct {
	High    uint64 // memory.events high; 0 in v1, which has no such limit
	Max     uint64 // memory.events max, memory.failcnt: charges that met the limit
	OOM     Opt[uint64]
	OOMKill uint64 // oom_kill: processes killed; v1: memory.oom_control
}
