package app

import (
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/show/fleet"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// calmLife is what an agent has of one program, without an agent that runs.
func calmLife(t *testing.T) (c *calm, recordings func() []string) {
	t.Helper()
	status, dir := newStatus(io.Discard), t.TempDir()
	a := &agent{status: status}
	a.collector = fleet.NewCollector(fleet.Node{Tenant: "t"}, func(*fleet.Table, []byte) error { return nil }, func(err error) { t.Error(err) })
	l := &life{follower: &follower{watching: &watching{}, status: status, dir: dir, agent: a}, probing: &probing{}, name: "shop"}
	l.rows = &agentLife{Life: a.collector.NewLife(func(sample.Program) fleet.Identity { return fleet.Identity{Service: "shop"} })}
	l.calm = &calm{life: l, meta: recording.Meta{At: time.Now()}, ring: recording.NewRing(l.rows.SitesOf)}
	t.Cleanup(func() {
		if l.recording.writer != nil {
			_ = l.recording.writer.Close()
		}
	})
	return l.calm, func() []string {
		files, _ := filepath.Glob(filepath.Join(dir, "*"+Suffix))
		return files
	}
}

// An agent's recording begins when there is something that it is worth.
func TestAnAgentsRecordingBeginsWithNews(t *testing.T) {
	t.Parallel()
	key := sample.ProcessKey{PID: 7, Start: 9}
	begun := time.Now()
	point := func(after time.Duration, anonymous, limit sample.Bytes) *sample.Point {
		return &sample.Point{At: begun.Add(after), Resting: true,
			Cgroup:    &sample.Cgroup{Usage: anonymous, Limit: sample.Opt[sample.Bytes]{V: limit, OK: limit > 0}},
			Processes: []sample.Process{{Key: key, Resident: &sample.Resident{Total: anonymous}, Go: &sample.Runtime{GOGC: 100}}}}
	}
	const mib = sample.MiB
	for name, c := range map[string]struct {
		do   func(*calm) error
		want bool
	}{
		"it rests":                {func(c *calm) error { return c.Point(point(time.Second, 50*mib, 512*mib)) }, false},
		"it is close to a limit":  {func(c *calm) error { return c.Point(point(time.Second, 50*mib, 60*mib)) }, true},
		"it grows at first":       {func(c *calm) error { return c.Point(point(30*time.Second, 90*mib, 0)) }, false},
		"it grows later":          {func(c *calm) error { return c.Point(point(2*time.Hour, 90*mib, 0)) }, true},
		"it grows a little":       {func(c *calm) error { return c.Point(point(2*time.Hour, 60*mib, 0)) }, false},
		"a calm moment":           {func(c *calm) error { return c.Moment(&sample.Moment{At: begun, Kind: sample.MomentCalm}) }, false},
		"a death":                 {func(c *calm) error { return c.Moment(&sample.Moment{At: begun, Kind: sample.MomentDeath}) }, true},
		"fast growth":             {func(c *calm) error { return c.Moment(&sample.Moment{At: begun, Kind: sample.MomentGrowth}) }, true},
		"the kernel kills":        {func(c *calm) error { return c.Event(sample.Event{At: begun, Kind: sample.EventOOMKill}) }, true},
		"a process starts":        {func(c *calm) error { return c.Event(sample.Event{At: begun, Kind: sample.EventStart}) }, false},
		"it becomes another":      {func(c *calm) error { return c.Program(sample.Program{Key: key, Name: "other"}) }, true},
		"another process appears": {func(c *calm) error { return c.Program(sample.Program{Key: sample.ProcessKey{PID: 8}}) }, false},
		"a process is gone": {func(c *calm) error {
			p := point(time.Second, 50*mib, 0)
			p.Processes[0].Resident = nil
			return c.Point(p)
		}, true},
		"it moves": {func(c *calm) error {
			for i := range 100 {
				p := point(time.Duration(i)*100*time.Millisecond, 50*mib+sample.Bytes(i)*mib/10, 0)
				p.Resting = false
				if err := c.Point(p); err != nil {
					return err
				}
			}
			return nil
		}, true},
	} {
		c2, recordings := calmLife(t)
		site := []sample.Site{{Size: 64, Stack: []sample.Location{{Frames: []sample.Frame{{Func: "main.put", File: "put.go", Line: 7}}}}}}
		program := sample.Program{Key: key, Name: "shop", Go: &sample.GoProgram{Version: "go1.26.8", BuildID: "b"}}
		for _, give := range []func() error{
			func() error { return c2.Program(program) }, func() error { return c2.rows.Program(program) },
			func() error { return c2.Sites(key, 0, site) }, func() error { return c2.rows.Sites(key, 0, site) },
			func() error { return c2.Point(point(0, 50*mib, 512*mib)) },
			func() error { return c.do(c2) }, c2.Flush,
		} {
			if err := give(); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		files := recordings()
		if got := len(files) == 1; got != c.want {
			t.Errorf("%s: there is a recording: %v", name, got)
		}
		if len(files) != 1 {
			continue
		}
		if err := c2.recording.writer.Close(); err != nil {
			t.Fatal(err)
		}
		r, err := recording.Open(files[0])
		if err != nil {
			t.Fatal(err)
		}
		s, err := r.Samples(recording.ColUsage)
		if err != nil || s.Len() == 0 || s.Column(recording.ColUsage)[0] != float64(50*mib) {
			t.Errorf("%s: what was before is not in it: %d samples, %v", name, s.Len(), err)
		}
		r.Close()
	}
}
