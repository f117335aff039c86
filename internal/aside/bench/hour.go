package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/units"
)

const (
	hourPoints   = 36000
	hourSites    = 1850
	hourProfiles = 3600
)

// explainHour makes an hour's recording and explains it, from the start of the
// command to its end.
func explainHour(r *room) ([]row, error) {
	path := filepath.Join(r.dir, "hour.hwm")
	h := newHour()
	if err := h.record(path); err != nil {
		return nil, err
	}
	kept, err := contentsOf(path)
	if err != nil {
		return nil, err
	}
	explained, err := explainRows(r, path, "an hour", 200*time.Millisecond, h)
	if err != nil {
		return nil, err
	}
	size := row{
		What: "A heap profile in the recording, the made-up hour", Floor: "under 10 kB", Figure: fmt.Sprintf("%.0f bytes", kept.profile),
		Pass: kept.profile < bytesFloor, More: fmt.Sprintf("%d sites, a twentieth of them changed each second; largest %d bytes", hourSites, kept.largest),
	}
	return append(explained, size), nil
}

// explainRows asks for the answer to a made-up recording, seven times.
func explainRows(r *room, path, what string, floor time.Duration, h *hour) ([]row, error) {
	var took []time.Duration
	for range 7 {
		began := time.Now()
		c := exec.Command(r.tool, "explain", "--no-source", path)
		if text, err := c.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%w\n%s", err, text)
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	middle, worst := took[len(took)/2], took[len(took)-1]
	return []row{{
		What: "`explain` of " + what + "'s recording", Floor: fmt.Sprintf("under %d ms", floor.Milliseconds()), Figure: fmt.Sprintf("%d ms", middle.Milliseconds()),
		Pass: middle < floor,
		More: fmt.Sprintf("the whole command, median of %d, worst %d ms; %d samples, %d sites, %d heap profiles, %s",
			len(took), worst.Milliseconds(), h.points, h.sites, h.points/h.profileEvery, units.Size(sample.Bytes(info.Size()))),
	}}, nil
}

// hour is a made-up but likely course: a server whose live heap grows from 60 to
// 220 MiB with a saw of garbage on it, a GC every two seconds, and a twentieth
// of its sites busy.
type hour struct {
	points, sites, profileEvery, momentEvery int // momentEvery, and profileEvery between: in points

	start  time.Time
	random *rand.Rand
	w      *recording.Writer
	counts []sample.BucketCounts
	gcs    uint32
}

func newHour() *hour {
	return &hour{points: hourPoints, sites: hourSites, profileEvery: hourPoints / hourProfiles, momentEvery: 360,
		start: time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC), random: rand.New(rand.NewPCG(1, 2))}
}

var hourKey = sample.ProcessKey{PID: 4121, Start: 77}

func (h *hour) record(path string) (err error) {
	if h.w, err = recording.Create(path, recording.Meta{Tool: "bench", Host: "bench", PageSize: 4096, At: h.start}); err != nil {
		return err
	}
	defer h.w.Close()
	h.counts = make([]sample.BucketCounts, h.sites)
	if err := h.introduce(); err != nil {
		return err
	}
	for i := range h.points {
		at := h.start.Add(time.Duration(i) * 100 * time.Millisecond)
		if err := h.moveOn(i, at); err != nil {
			return err
		}
	}
	last := h.start.Add(time.Duration(h.points) * 100 * time.Millisecond)
	if err := h.w.Event(sample.Event{At: last, Kind: sample.EventExit, Process: hourKey, Text: "exit 0"}); err != nil {
		return err
	}
	return h.w.Close()
}

// introduce records the program and its sites.
func (h *hour) introduce() error {
	program := sample.Program{
		Key: hourKey, Name: "server", Exe: "/srv/server", HeapProfile: sample.HeapProfileOn,
		Go: &sample.GoProgram{Version: "go1.26.8", Module: "example.org/server", MainPackage: "example.org/server", BuildID: "b"},
	}
	if err := h.w.Program(program); err != nil {
		return err
	}
	if err := h.w.Event(sample.Event{At: h.start, Kind: sample.EventStart, Process: hourKey, Text: "server"}); err != nil {
		return err
	}
	list := make([]sample.Site, h.sites)
	for i := range list {
		list[i] = site(i)
	}
	return h.w.Sites(hourKey, 0, list)
}

// site is a stack of 18 calls that shares most of its callers with others.
func site(i int) sample.Site {
	s := sample.Site{Size: sample.Bytes(32 << (i % 9))}
	for depth := range 18 {
		n := i >> min(depth, 11)
		s.Stack = append(s.Stack, sample.Location{
			Address: uint64(0x400000 + depth<<20 + n<<4),
			Frames: []sample.Frame{{
				Func: fmt.Sprintf("example.org/server/internal/part%d.(*Handler).step%d", n%23, depth),
				File: fmt.Sprintf("/build/server/internal/part%d/handler.go", n%23), Line: 10 + n, StartLine: 10,
			}},
		})
	}
	return s
}

// moveOn records one tenth of a second.
func (h *hour) moveOn(i int, at time.Time) error {
	live := 60*sample.MiB + 160*sample.MiB*sample.Bytes(i)/sample.Bytes(h.points)
	saw := live * sample.Bytes(i%20) / 20
	r := &sample.Runtime{
		GOGC: 100, MemoryLimit: sample.NoMemoryLimit, HeapLive: live + saw, HeapMarked: live, HeapGoal: 2 * live, Trigger: 2 * live * 9 / 10,
		TotalAlloc: sample.Bytes(i) * 8 * sample.MiB, TotalFree: sample.Bytes(i)*8*sample.MiB - live, HeapInUse: live + saw, HeapFree: live - saw,
		MappedReady: 2*live + 8*sample.MiB, StackInUse: 2 * sample.MiB, NumGC: h.gcs, Goroutines: 120 + i%7, ProfileRate: 512 << 10,
	}
	resident := &sample.Resident{Total: 2*live + 20*sample.MiB, Shared: 12 * sample.MiB, Threads: 9}
	charge := &sample.Cgroup{
		Usage: 2*live + 30*sample.MiB, Limit: sample.Some(1 * sample.GiB),
		Stat: &sample.CgroupStat{Anon: 2*live + 8*sample.MiB, PageCache: 14 * sample.MiB, Kernel: 4 * sample.MiB}, Events: &sample.CgroupEvents{},
	}
	point := sample.Point{At: at, Cgroup: charge, Processes: []sample.Process{{Key: hourKey, Resident: resident, Go: r}}}
	if err := h.w.Point(&point); err != nil {
		return err
	}
	if i%20 == 0 {
		h.gcs++
		cycle := sample.GCCycle{At: at, Process: hourKey, N: h.gcs, Trigger: r.Trigger, Marked: live, Goal: 2 * live, GOGC: 100, Limit: sample.NoMemoryLimit,
			Alloc: r.TotalAlloc}
		if err := h.w.Cycle(cycle); err != nil {
			return err
		}
	}
	if i%h.profileEvery != 0 {
		return nil
	}
	return h.profile(i, at, &point)
}

// profile records a heap profile, every thirty-sixth as part of a moment.
func (h *hour) profile(i int, at time.Time, point *sample.Point) error {
	for range h.sites / 20 {
		c := &h.counts[h.random.IntN(h.sites)]
		n := uint64(h.random.IntN(9))
		c.PubAllocs += n
		c.PubFrees += n * 19 / 20
		c.NowAllocs, c.NowFrees = c.PubAllocs+n/3, c.PubFrees
	}
	p := &sample.HeapProfile{At: at, Rate: 512 << 10, Cycle: h.gcs, Counts: h.counts}
	if i%h.momentEvery != 0 {
		return h.w.Heap(hourKey, p)
	}
	process := point.Processes[0]
	anon := process.Resident.Anon()
	return h.w.Moment(&sample.Moment{
		At: at, Kind: sample.MomentCalm, Cgroup: point.Cgroup, CgroupAfter: point.Cgroup,
		Processes: []sample.ProcessMoment{{
			Key: hourKey, Resident: process.Resident, Go: process.Go, Profile: p,
			Residency:  &sample.Residency{Anon: anon, File: 12 * sample.MiB, GoKnown: true, GoObjects: anon * 8 / 10, GoIdle: anon / 10, GoRuntime: anon / 10},
			Goroutines: []sample.GoroutineGroup{{State: "waiting", Reason: "IO wait", Count: 120, Stack: []uint64{0x400100, 0x400200}, StackBytes: sample.MiB}},
		}},
	})
}
