package pull

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/words/sample"
)

func TestALineIsReadInEveryFormThatItHasHad(t *testing.T) {
	ms := func(v float64) time.Duration { return time.Duration(v * float64(time.Millisecond)) }
	want := Collection{N: 12, Start: 1327 * time.Millisecond, Share: 0.03,
		SweepTermination: ms(0.18), Mark: ms(10.41), MarkTermination: ms(0.003), Assist: ms(0.25), Dedicated: ms(0.4), Idle: ms(0.11),
		HeapAtStart: 41 * sample.MiB, HeapAtEnd: 43 * sample.MiB, Live: 28 * sample.MiB, Goal: 52 * sample.MiB,
		Stacks: sample.Some(2 * sample.MiB), Globals: sample.Some(1 * sample.MiB), Procs: 8}
	forced, old := want, want
	forced.Forced = true
	old.Stacks, old.Globals = sample.Opt[sample.Bytes]{}, sample.Opt[sample.Bytes]{}
	const head = "gc 12 @1.327s 3%: 0.18+10.41+0.003 ms clock, 0.36+0.25/0.40/0.11+0.007 ms cpu, 41->43->28 MB, 52 MB goal, "
	for _, c := range []struct {
		line, prefix string
		want         Collection
	}{
		{head + "2 MB stacks, 1 MB globals, 8 P", "", want},
		{head + "2 MB stacks, 1 MB globals, 8 P (forced)", "", forced},
		{head + "8 P", "", old},
		{"2026-05-01T10:00:00.5Z web | " + head + "2 MB stacks, 1 MB globals, 8 P", "2026-05-01T10:00:00.5Z web | ", want},
		{"gc 3 seconds ago: " + head + "2 MB stacks, 1 MB globals, 8 P", "gc 3 seconds ago: ", want},
	} {
		prefix, got, torn, ok := ParseCollection(c.line)
		if !ok || torn || prefix != c.prefix || got != c.want {
			t.Errorf("%s\n got %q %+v\nwant %+v", c.line, prefix, got, c.want)
		}
	}
	for line, tornWanted := range map[string]bool{
		"scvg: 8 KB released":        false,
		"scvg0: inuse: 1, idle: 61":  false,
		"SCHED 0ms: gomaxprocs=8":    false,
		"magic 12 @1.3s":             false,
		"arc 12 @1.3s 3%":            false,
		"gc 12 done":                 false,
		"pacer: assist ratio=+1":     false,
		head:                         true,
		"gc 12 @1.3listening on :80": true,
		strings.Replace(head, "41->", "99999999999999999999->", 1) + "8 P": true,
		strings.Replace(head, "1.327s", "1e9.9.9s", 1) + "8 P":             true,
	} {
		if _, _, torn, ok := ParseCollection(line); ok || torn != tornWanted {
			t.Errorf("%q: ok %v, torn %v", line, ok, torn)
		}
	}
}

// line is a collection of a process that has so much live.
func line(n int, at float64, start, live, procs int) string {
	return fmt.Sprintf("gc %d @%.3fs 0%%: 0.1+1.0+0.1 ms clock, 0.1+0/0/0+0.1 ms cpu, %d->%d->%d MB, %d MB goal, 0 MB stacks, 0 MB globals, %d P", n, at, start,
		start, live, start, procs)
}

func TestTheLinesOfSeveralProcessesAreToldApart(t *testing.T) {
	for name, c := range map[string]struct {
		lines []string
		want  []string // label: numbers
	}{
		"one after the other": {[]string{line(1, 0.1, 4, 1, 2), line(2, 0.2, 4, 2, 2), "listening", line(1, 0.05, 4, 1, 2), line(2, 0.3, 4, 1, 2)},
			[]string{": 1 2", ": 1 2"}},
		"mixed, by their heaps": {[]string{line(1, 0.1, 4, 1, 2), line(1, 0.1, 90, 80, 2), line(2, 0.2, 100, 80, 2), line(2, 0.2, 4, 1, 2), line(3, 0.3, 110, 85, 2)},
			[]string{": 1 2", ": 1 2 3"}},
		"mixed, by their Ps": {[]string{line(1, 0.1, 4, 1, 2), line(1, 0.1, 4, 1, 8), line(2, 0.2, 4, 1, 8), line(2, 0.2, 4, 1, 2)},
			[]string{": 1 2", ": 1 2"}},
		"mixed, by numbers": {[]string{line(1, 0.1, 4, 1, 2), line(2, 0.2, 4, 1, 2), line(1, 0.3, 4, 1, 2), line(3, 0.4, 4, 1, 2), line(2, 0.5, 4, 1, 2)},
			[]string{": 1 2 3", ": 1 2"}},
		"a time that goes back": {[]string{line(7, 10, 4, 1, 2), line(8, 3, 4, 1, 2)}, []string{": 7", ": 8"}},
		"lines that are lost":   {[]string{line(7, 10, 4, 3, 2), line(12, 20, 4, 1, 2)}, []string{": 7 12"}},
		"a changed GOMAXPROCS":  {[]string{line(7, 10, 4, 3, 2), line(8, 20, 4, 1, 4)}, []string{": 7 8"}},
		"by their names": {[]string{"web-1    | " + line(3, 1, 4, 1, 2), "worker-1 | " + line(3, 1, 4, 1, 2), "web-1    | " + line(4, 2, 4, 1, 2),
			"worker-1 | " + line(4, 2, 4, 1, 2)},
			[]string{"web-1: 3 4", "worker-1: 3 4"}},
		"names behind times": {[]string{"May  1 10:00:00 host web[7]: " + line(1, 1, 4, 1, 2), "May  1 10:00:09 host web[7]: " + line(2, 9, 4, 1, 2)},
			[]string{"host web[7]: 1 2"}},
	} {
		log, err := ReadTrace(strings.NewReader(strings.Join(c.lines, "\n")))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range log.Processes {
			text := p.Label + ":"
			for _, g := range p.Collections {
				text += fmt.Sprint(" ", g.N)
			}
			got = append(got, text)
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestTheStartIsCountedBackFromTheTimesBeforeTheLines(t *testing.T) {
	want := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	for _, stamp := range []string{"2026-05-01T10:00:02.0012Z ", "2026-05-01 12:00:02.0012+02:00 web: ", "2026-05-01T10:00:02,0012Z "} {
		log, err := ReadTrace(strings.NewReader(stamp + line(5, 2, 4, 1, 2) + "\n"))
		if err != nil {
			t.Fatal(err)
		}
		if got := log.Processes[0].Began; !got.Equal(want) {
			t.Errorf("%s: %s", stamp, got)
		}
	}
}

func TestALogWithoutTheCollectorIsNone(t *testing.T) {
	for text, want := range map[string]error{"": ErrEmpty, "\n": ErrNoCollector, "listening on :8080\n": ErrNoCollector,
		strings.Repeat("x", 1<<20): ErrNoCollector} {
		if _, err := ReadTrace(strings.NewReader(text)); !errors.Is(err, want) {
			t.Errorf("%.20q: %v", text, err)
		}
	}
	long := strings.Repeat("x", 100_000) + "\n" + line(1, 1, 4, 1, 2)
	if log, err := ReadTrace(strings.NewReader(long)); err != nil || len(log.Processes) != 1 {
		t.Errorf("behind a long line: %v", err)
	}
}

// Two processes of each toolchain write into one file; each says at its end how
// many collections it has had.
func TestRealLogsHaveEveryCollection(t *testing.T) {
	for _, version := range hwtest.Matrix([]string{"go1.20.14", "go1.22.12", "go1.24.13", "go1.26.8", "go1.27.2"}) {
		t.Run(version, func(t *testing.T) {
			program := hwtest.Build(t, "testdata/collects", hwtest.BuildOptions{Toolchain: version})
			path := filepath.Join(t.TempDir(), "log")
			file, err := os.Create(path)
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			var ends []string
			for _, rounds := range []string{"20", "40"} {
				cmd := exec.Command(program, rounds)
				cmd.Env = append(os.Environ(), "GODEBUG=gctrace=1")
				cmd.Stderr = file
				out, err := cmd.Output()
				if err != nil {
					t.Fatal(err)
				}
				ends = append(ends, strings.TrimSpace(string(out)))
			}
			if _, err := file.Seek(0, 0); err != nil {
				t.Fatal(err)
			}
			log, err := ReadTrace(file)
			if err != nil {
				t.Fatal(err)
			}
			if len(log.Processes) != 2 || log.Torn != 0 {
				t.Fatalf("%d processes, %d torn", len(log.Processes), log.Torn)
			}
			for i, p := range log.Processes {
				if got := fmt.Sprint("collections ", len(p.Collections)); got != ends[i] || p.Last().N != uint32(len(p.Collections)) {
					t.Errorf("process %d: %s, the program says %s; the last is %d", i, got, ends[i], p.Last().N)
				}
				if live, want := p.Last().Live, sample.Bytes([]int{40, 80}[i])*sample.MiB; live < want || live > want+4*sample.MiB || !p.Last().Forced {
					t.Errorf("process %d: %d live, want %d", i, live, want)
				}
			}
		})
	}
}

func FuzzReadTrace(f *testing.F) {
	f.Add(line(1, 0.1, 4, 1, 2) + "\n" + line(2, 0.2, 4, 2, 2) + " (forced)\nweb | " + line(1, 0.05, 4, 1, 2))
	f.Add("gc 1 @0.1s 0%: gc 2 @0.3s")
	f.Add("2026-05-01T10:00:02Z gc 4294967295 @9999999999s 100%: 1+1+1 ms clock, 1+1/1/1+1 ms cpu, 1->1->1 MB, 1 MB goal, 1 P")
	f.Fuzz(func(t *testing.T, text string) {
		log, err := ReadTrace(strings.NewReader(text))
		if err != nil {
			return
		}
		for _, p := range log.Processes {
			last := Collection{}
			for _, c := range p.Collections {
				if c.N <= last.N && last.N > 0 || c.Start < 0 || c.End() < c.Start || c.Live > 1<<60 {
					t.Errorf("%+v after %+v", c, last)
				}
				last = c
			}
		}
	})
}
