package main

import (
	_ "embed"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

// row is one figure against its floor.
type row struct {
	What, Floor, Figure, More string
	Pass                      bool // true where there is no floor
}

// verdict is what the table says of a row.
func (r row) verdict() string {
	switch {
	case r.Floor == "":
		return ""
	case r.Pass:
		return "kept"
	}
	return "**missed**"
}

const head = `# What it costs

Written by ` + "`make bench`" + `, which measures all of it side by side in one run, as ratios where there are two sides. The figures
are of the machine below and will differ on yours; the floors are promises. Benchmarks of single parts stand beside their code
(` + "`go test -bench . ./internal/...`" + `).

`

// heldOut is what was measured of predictions, by hand: an hour for docs/research/tune.md.
//
//go:embed heldout.md
var heldOut string

// write writes the document to a file, or to standard output.
func write(path string, rows []row, machine []string, took time.Duration) error {
	var b strings.Builder
	b.WriteString(head)
	for _, line := range machine {
		fmt.Fprintf(&b, "* %s\n", line)
	}
	fmt.Fprintf(&b, "* the whole run: %s\n", took.Truncate(time.Second))
	kept := floors(rows)
	fmt.Fprintf(&b, "* %s\n\n", kept)
	b.WriteString("| what | floor | figure | | how it came about |\n|---|---|---|---|---|\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", r.What, r.Floor, r.Figure, r.verdict(), r.More)
	}
	b.WriteString(tail)
	b.WriteString(heldOut)
	if path == "" {
		fmt.Print(b.String())
	} else if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, kept)
	return nil
}

// floors counts the floors, and names those that are missed.
func floors(rows []row) string {
	all, missed := 0, []string(nil)
	for _, r := range rows {
		if r.Floor != "" {
			all++
		}
		if !r.Pass {
			missed = append(missed, r.What)
		}
	}
	if len(missed) == 0 {
		return fmt.Sprintf("all %d floors are kept; rows without one are there to compare", all)
	}
	return fmt.Sprintf("%d of %d floors are missed: %s; rows without one are there to compare", len(missed), all, strings.Join(missed, "; "))
}

const tail = `
How each is measured:

* **The watcher** watches a program that has 10,000 allocation sites with stacks of 25 calls, under ` + "`--limit 512MiB`" + ` and at the
  default rate, for a minute after it has settled. CPU is user and system time of all its threads (` + "`/proc/PID/stat`" + `), memory
  the largest ` + "`Rss`" + ` of ` + "`smaps_rollup`" + ` in that minute: the pages of its own executable, which other processes share, are in it. The
  program at rest still ticks, so the watcher does all of its regular work; the one that allocates makes it look more often
  while its memory grows.
* **A hundred programs** have 300 sites each and rest; every second one is stripped. One ` + "`highwater watch`" + ` finds them by name. Attaching ends when the
  last has its recording, and the first moment of each, which comes a second later, is not in it; at rest it is. "Written" is what the kernel counts as written to disk.
* **The fixed job** builds, sorts and forgets search trees of strings, always the same, with the collector running all along. The
  program tells its own CPU time at the end (getrusage). The three ways take turns; medians with smallest and largest, and the
  p-value of an exact Mann-Whitney U test.
* **The poll** counts the CPU time of both sides, reader and program, and takes off what the program uses by itself. The fetch
  is not decoded, which a real reader would have to do as well.
* **The large program** is generated: 100,000 functions in 50 packages, and 80 MB of data, stripped. It is opened as
  at an attach, with the file in the page cache.
* **One reading, attaching** and the poll of 100,000 sites are of the program of 10,000 sites with ten times as many. gcore's CPU is
  gdb's, with what the kernel did for it.
* **The recording's** bytes are the compressed columns of a profile; an hour is what a minute's tables grow by, sites and names left out.
* **` + "`explain`" + `** is the whole command, from its start to its end, on a recording made by the same writer of a made-up hour, and on
  that of the page's week, with the file in the page cache.
* **` + "`heap`" + `** is asked about a program that keeps a tree and a cache: a map of sessions that are a list, too, and share accounts. Its
  own memory is the largest resident set of the command (` + "`VmHWM`" + `, read every 5 ms). The machine's copy rate is that of two threads between
  tables that are in memory. All sizes are gone through three times, minutes apart, and the medians are those of all runs: a machine that
  is others', too, is faster and slower for minutes. What a million objects more take is the median of some runs
  and the largest memory, less those of a heap of 1 MB: opening the program, and what it says of its types, does not grow with objects.
  Before each question, twice as much memory as the answer takes, and a quarter of that in small pages, was written to and given back, so that the machine
  has it: one whose host takes back what is free pays for it first, as the row about a GiB of memory says, and an answer after an idle minute is
  later by that.
* **Side by side** asks one program in each way, once. It was built by the Go above, with DWARF, which the others need and ` + "`heap`" + ` does not.
  It ticks each millisecond; "stands" is the longest time between two ticks while the command ran, the same for all. What is live is what
  the program says after two collections. viewcore's time is that of ` + "`histogram`" + `, and what it calls live is in its ` + "`breakdown`" +
	`; the pages of the core
  that it has mapped count as its memory. goref's figure is the sum of the profile that it writes; the program's list of
  sessions makes its paths long, as that of an LRU cache does, and the map alone does not. ` + "`grf` and `viewcore`" + ` are used if they are on
  the PATH. A tool that is not there, fails, or takes more than two and a half minutes has no answer.
* **The last breath** counts a death as complete if Go's figures, both views of the heap profile, the goroutines, the resident pages
  and the charge before and after were read. Twenty programs that wake begin half a second apart, rest for six seconds, and then fill 64 MiB at
  full speed, each under a ` + "`run`" + ` of its own; a climb was looked at if a row before the death has more than a quarter of the limit.
* **Children**: each build has an empty cache of its own; both ways take turns, and which is first changes.
* **The page** is opened by a headless Chromium of 1440 x 900, which draws without a graphics card, from ` + "`highwater open`" + ` started anew
  each time. The recordings are made by the same writer: ten samples a second, a heap profile of 300 sites every five seconds, a moment a
  minute. The first screen is there when the verdict, the plot, the ledger and the lines were painted, counted from the
  navigation. To move over it, a window of a fortieth of the run is pulled over the whole of it by 300 moves of the mouse; a frame
  is late when the one before it is more than 25 ms ago.
`

// describeMachine is what the figures depend on.
func describeMachine() []string {
	lines := []string{
		fmt.Sprintf("%s, %d cores, %s", processor(), runtime.NumCPU(), kernel()),
		runtime.Version() + " " + runtime.GOARCH,
	}
	if b, err := os.ReadFile("/proc/loadavg"); err == nil {
		lines = append(lines, "load when it ended: "+strings.Join(strings.Fields(string(b))[:2], ", ")+" over 1 and 5 minutes")
	}
	return append(lines, time.Now().UTC().Format("2 January 2006"))
}

func processor() string {
	b, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(b)) {
		if name, ok := strings.CutPrefix(line, "model name"); ok {
			return strings.TrimSpace(strings.TrimLeft(name, "\t :"))
		}
	}
	return "an unknown processor"
}

func kernel() string {
	b, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return "an unknown kernel"
	}
	return "Linux " + strings.TrimSpace(string(b))
}
