package main

import (
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/gobin"
	"github.com/highwater-go/highwater/internal/eyes/gomem"
	"github.com/highwater-go/highwater/internal/eyes/gostats"
	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/words/sample"
)

const pollFloor = 50

// poll compares reading the heap profile from a program's memory with fetching
// it from the program, in CPU time of both sides together.
func poll(r *room) ([]row, error) {
	p, addr, err := hold(r, sites)
	if err != nil {
		return nil, err
	}
	defer p.stop()
	read, found, err := reader(p.pid(), r.target)
	if err != nil {
		return nil, err
	}
	fetch := func() error { return get("http://" + addr + "/debug/pprof/heap") }
	// What the program does anyway is measured too, and taken off. All of it in
	// turns, so that each meets the same machine.
	var idle, polls, fetches cost
	for range r.least(10) {
		for _, m := range []struct {
			c    *cost
			do   func() error
			many int
		}{{&idle, func() error { time.Sleep(10 * time.Millisecond); return nil }, 20}, {&polls, read, 50}, {&fetches, fetch, 5}} {
			if err := m.c.add(p.pid(), m.many, m.do); err != nil {
				return nil, err
			}
		}
	}
	polled, fetched := polls.net(idle), fetches.net(idle)
	ratio := float64(fetched) / float64(polled)
	return []row{{
		What: "A poll of the heap profile against /debug/pprof/heap, 10,000 sites", Floor: "50 x cheaper",
		Figure: fmt.Sprintf("%.0f x", ratio), Pass: ratio >= pollFloor,
		More: fmt.Sprintf("%s of CPU a poll, %s a fetch, both sides together; %d sites read", polled.Round(time.Microsecond), fetched.Round(time.Microsecond),
			found()),
	}}, nil
}

// attachTo finds the runtime of a program.
func attachTo(pid int, exe string) (*gomem.Runtime, error) {
	bin, err := gobin.Open(exe)
	if err != nil {
		return nil, err
	}
	mem, err := procfs.OpenMemory("/proc", pid)
	if err != nil {
		return nil, err
	}
	start, err := new(procfs.Mapper).ExecutableStart("/proc", pid)
	if err != nil {
		return nil, err
	}
	return gomem.Attach(mem, bin, start-bin.Base())
}

// reader gives a function that polls a program's profile, and one that says how
// many sites the last poll saw.
func reader(pid int, exe string) (read func() error, found func() int, err error) {
	runtime, err := attachTo(pid, exe)
	if err != nil {
		return nil, nil, err
	}
	profile := &sample.HeapProfile{}
	stats := gostats.New(runtime)
	read = func() error { return stats.Profile(profile) }
	return read, func() int { return len(profile.Counts) }, read()
}

func get(url string) error {
	resp, err := http.Get(url)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	n, err := io.Copy(io.Discard, resp.Body)
	if err == nil && n < 1000 {
		return fmt.Errorf("%s answered %d bytes", url, n)
	}
	return err
}

// cost is the CPU time of the bench and the program, over a number of turns.
type cost struct {
	cpu, wall time.Duration
	turns     int
}

func (c *cost) add(pid, turns int, do func() error) error {
	theirs, err := cpuOf(pid)
	if err != nil {
		return err
	}
	ours, err := ownCPU()
	if err != nil {
		return err
	}
	began := time.Now()
	for range turns {
		if err := do(); err != nil {
			return err
		}
	}
	c.wall += time.Since(began)
	c.turns += turns
	theirsNow, err := cpuOf(pid)
	if err != nil {
		return err
	}
	oursNow, err := ownCPU()
	c.cpu += theirsNow - theirs + oursNow - ours
	return err
}

// net is the cost of one turn without what the program does by itself in that
// time.
func (c *cost) net(idle cost) time.Duration {
	base := float64(idle.cpu) / float64(idle.wall) * float64(c.wall)
	return time.Duration((float64(c.cpu) - base) / float64(c.turns))
}
