package cgroup

import (
	"bytes"
	"errors"
	"math"

	"github.com/highwater-go/highwater/internal/words/sample"
)

var errMalformed = errors.New("the kernel's file is not as documented")

// parseUint reads a file of one number, "123\n". The word "max", a limit's "no
// limit" in version 2, is MaxUint64.
func parseUint(b []byte) (uint64, bool) {
	b = bytes.TrimSuffix(b, []byte("\n"))
	if string(b) == "max" {
		return math.MaxUint64, true
	}
	if len(b) == 0 {
		return 0, false
	}
	var v uint64
	for _, c := range b {
		d := uint64(c - '0')
		if d > 9 || v > (math.MaxUint64-d)/10 {
			return 0, false
		}
		v = v*10 + d
	}
	return v, true
}

// withoutNoLimit drops a limit that is none: version 1 prints the largest
// number of whole pages in an int64 (PAGE_COUNTER_MAX in
// include/linux/page_counter.h), which depends on the page size.
func withoutNoLimit(v sample.Opt[sample.Bytes]) sample.Opt[sample.Bytes] {
	if v.V >= 1<<62 {
		return sample.Opt[sample.Bytes]{}
	}
	return v
}

// nextPair cuts the first line "key value" off b. A line that is no such pair
// has ok false.
func nextPair(b []byte) (key []byte, value uint64, rest []byte, ok bool) {
	line, rest, _ := bytes.Cut(b, []byte("\n"))
	key, number, ok := bytes.Cut(line, []byte(" "))
	if !ok {
		return nil, 0, rest, false
	}
	value, ok = parseUint(number)
	return key, value, rest, ok
}

// parseStatV2 reads memory.stat of version 2
// (Documentation/admin-guide/cgroup-v2.rst). Rows that are missing in an older
// kernel stay absent.
func parseStatV2(s *sample.CgroupStat, b []byte) error {
	*s = sample.CgroupStat{}
	var file, parts, kernel sample.Opt[sample.Bytes]
	seenAnon := false
	for len(b) > 0 {
		key, v, rest, ok := nextPair(b)
		b = rest
		if !ok {
			continue
		}
		n := sample.Bytes(v)
		switch string(key) {
		case "anon":
			s.Anon, seenAnon = n, true
		case "file":
			file = sample.Some(n)
		case "kernel": // since 5.18
			kernel = sample.Some(n)
		case "kernel_stack":
			s.KernelStack = sample.Some(n)
			add(&parts, n)
		case "pagetables":
			s.PageTables = sample.Some(n)
			add(&parts, n)
		case "slab":
			s.Slab = sample.Some(n)
			add(&parts, n)
		case "sec_pagetables", "percpu", "vmalloc":
			add(&parts, n)
		case "sock":
			s.Sock = sample.Some(n)
		default:
			statRow(s, key, v)
		}
	}
	if !seenAnon || !file.OK {
		return errMalformed
	}
	s.PageCache = file.V.Sub(s.Shmem)
	s.Kernel = kernel.Or(parts.V)
	return nil
}

// parseStatV1 reads memory.stat of version 1
// (Documentation/admin-guide/cgroup-v1/memory.rst). It takes the rows total_*,
// which hold the cgroups below as well, as the charge does. Kernel is in a file
// of its own and left 0.
func parseStatV1(s *sample.CgroupStat, b []byte) error {
	*s = sample.CgroupStat{}
	var cache sample.Opt[sample.Bytes]
	seenAnon := false
	for len(b) > 0 {
		key, v, rest, ok := nextPair(b)
		b = rest
		key, total := bytes.CutPrefix(key, []byte("total_"))
		if !ok || !total {
			continue
		}
		switch string(key) {
		case "rss":
			s.Anon, seenAnon = sample.Bytes(v), true
		case "cache":
			cache = sample.Some(sample.Bytes(v))
		case "dirty":
			s.Dirty = sample.Bytes(v)
		case "writeback":
			s.Writeback = sample.Bytes(v)
		default:
			statRow(s, key, v)
		}
	}
	if !seenAnon || !cache.OK {
		return errMalformed
	}
	s.PageCache = cache.V.Sub(s.Shmem)
	return nil
}

// statRow takes the rows that both versions name alike, and those of version 2
// that version 1 has not.
func statRow(s *sample.CgroupStat, key []byte, v uint64) {
	switch string(key) {
	case "shmem":
		s.Shmem = sample.Bytes(v)
	case "active_file":
		s.ActiveFile = sample.Bytes(v)
	case "inactive_file":
		s.InactiveFile = sample.Bytes(v)
	case "file_dirty":
		s.Dirty = sample.Bytes(v)
	case "file_writeback":
		s.Writeback = sample.Bytes(v)
	case "pgmajfault":
		s.MajorFaults = v
	case "pgscan":
		s.Scanned = sample.Some(v)
	case "workingset_refault", "workingset_refault_anon", "workingset_refault_file": // split in 5.9
		add(&s.Refaults, v)
	}
}

func add[T sample.Bytes | uint64](sum *sample.Opt[T], v T) {
	sum.V += v
	sum.OK = true
}

// parseEvents reads memory.events of version 2, or memory.oom_control of
// version 1, which has oom_kill alone of these (since 4.13) and, unlike version
// 2, without the kills in cgroups below.
func parseEvents(e *sample.CgroupEvents, b []byte) error {
	*e = sample.CgroupEvents{}
	seenKill := false
	for len(b) > 0 {
		key, v, rest, ok := nextPair(b)
		b = rest
		if !ok {
			continue
		}
		switch string(key) {
		case "high":
			e.High = v
		case "max":
			e.Max = v
		case "oom":
			e.OOM = sample.Some(v)
		case "oom_kill":
			e.OOMKill, seenKill = v, true
		}
	}
	if !seenKill {
		return errMalformed
	}
	return nil
}
