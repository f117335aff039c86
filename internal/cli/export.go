package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/highwater-go/highwater/internal/explain"
	"github.com/highwater-go/highwater/internal/heapdiff"
	"github.com/highwater-go/highwater/internal/outfile"
	"github.com/highwater-go/highwater/internal/recording"
	"github.com/highwater-go/highwater/internal/report"
	"github.com/highwater-go/highwater/internal/sample"
	"github.com/highwater-go/highwater/internal/visible"
)

type exportFlags struct {
	pprof, goroutines, holders, resident, native, heapsnapshot, csv, json bool
	at, output, view, format                                              string
	pid, most                                                             int
	heap                                                                  heapFlags // of heapsnapshot
}

func exportCommand(s *streams) *cobra.Command {
	var f exportFlags
	c := &cobra.Command{
		Use:   "export [RECORDING]",
		Short: "Convert a recording to pprof, speedscope, heapsnapshot, CSV or JSON",
		Long: `Writes the heap profile of a recording as a pprof file, the goroutines or the captured
heap of a moment as others, all samples as CSV, or one moment as JSON. Without a moment,
it takes the kill or the peak.

--format folded writes a profile as stacks with a number, for flamegraph.pl or inferno;
--format speedscope writes it for speedscope.app.

--heapsnapshot writes a heap for the Memory panel of Chromium's developer tools (Load
profile): objects by type, what each retains, what points to it. Of a PID or a CORE that
is the whole graph; small objects are folded by type into what retains them
(--max-objects). Of a RECORDING it is the captured paths. It has no contents of objects.`,
		Example: `  highwater export --pprof > heap.pb.gz && go tool pprof -http=: heap.pb.gz
  highwater export --pprof --at 10s -o before.pb.gz
  highwater export --holders -o holders.pb.gz && go tool pprof -http=: holders.pb.gz
  highwater export --resident -o grown.pb.gz && go tool pprof -http=: grown.pb.gz
  highwater export --format speedscope -o heap.speedscope.json
  highwater export --heapsnapshot 4711 -o server.heapsnapshot
  highwater export --csv server-3 > samples.csv`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c.Context(), s, args) },
	}
	flags := c.Flags()
	flags.BoolVar(&f.pprof, "pprof", false, "write the heap profile (default)")
	flags.BoolVar(&f.goroutines, "goroutines", false, "write the goroutines by stack, with their profiler labels, as a pprof file")
	flags.BoolVar(&f.holders, "holders", false, "write what retained a captured heap (run --heap) as a pprof file: paths from variables and goroutines as stacks")
	flags.BoolVar(&f.resident, "resident", false, "write what made resident memory grow, native memory and the heap, as a pprof file: sampled page faults by stack, through calls of C")
	flags.BoolVar(&f.native, "native", false, "write what C's allocator had given out and not got back (run --native=live) as a pprof file, by stack, through calls of C")
	flags.BoolVar(&f.heapsnapshot, "heapsnapshot", false, "write the heap of a PID, a CORE or a RECORDING as a .heapsnapshot file")
	flags.IntVar(&f.most, "max-objects", 1_000_000, "with --heapsnapshot: write at most this `number` of objects, and fold the others by type into what retains them; 0: all")
	flags.BoolVar(&f.csv, "csv", false, "write all samples, one line per process and instant")
	flags.BoolVar(&f.json, "json", false, "write everything known of one moment")
	flags.StringVar(&f.view, "view", "", "with --pprof: the `view` to write: live (reachable then; default where it is known), published (as the profile of the program itself) or now (not yet swept, dead objects too)")
	flags.StringVar(&f.format, "format", "pprof", "write profiles as this `format`: pprof, folded or speedscope")
	flags.StringVar(&f.at, "at", "", "export this `moment`: peak, kill, last, a time since the start or of the clock")
	flags.IntVar(&f.pid, "pid", 0, "with --pprof and --goroutines: export the `process` with this PID (default: the one with most memory)")
	flags.StringVarP(&f.output, "output", "o", "", "file to write (default: standard output)")
	c.ValidArgsFunction = completeProcess
	completeFlag(c, "at", completeMoment)
	f.heap.addReading(c)
	f.heap.bound.addTime(c)
	f.heap.bound.live = s.live
	c.MarkFlagsMutuallyExclusive("pprof", "goroutines", "holders", "resident", "native", "heapsnapshot", "csv", "json")
	return c
}

func (f exportFlags) run(ctx context.Context, s *streams, args []string) error {
	if err := f.checkFormat(); err != nil {
		return err
	}
	if f.heapsnapshot {
		return f.writeHeap(ctx, s, args)
	}
	moment := explainFlags{at: f.at}
	args = moment.splitMoment(args)
	path, err := findRecording(args)
	if err != nil {
		return err
	}
	return f.heap.within("export", func() error { return f.read(s, path, moment.at) })
}

// checkFormat refuses a format that there is not, or that is not of profiles.
func (f exportFlags) checkFormat() error {
	switch {
	case !slices.Contains(heapdiff.Formats(), f.format):
		return usagef("--format pprof, folded or speedscope", "no format %q", f.format)
	case f.format != "pprof" && (f.csv || f.json || f.heapsnapshot):
		return usagef("highwater export --format "+f.format, "--format is for profiles, and not for --csv, --json or --heapsnapshot")
	}
	return nil
}

// text reports whether what is written can be read on a terminal.
func (f exportFlags) text() bool { return f.csv || f.json || f.format != "pprof" }

// read writes what was asked for of a recording.
func (f exportFlags) read(s *streams, path, at string) error {
	if f.output == "" && isTTY(fileOf(s.out)) && !f.text() {
		return usagef("highwater export --pprof > heap.pb.gz", "a pprof file is binary: it is not written to a terminal")
	}
	r, err := recording.Open(path)
	if err != nil {
		return recordingError(err)
	}
	defer r.Close()
	defer tellDamage(s, r, path)
	write := func(w io.Writer) error { return f.writePprof(w, r, path, at) }
	switch {
	case f.goroutines:
		write = func(w io.Writer) error { return f.writeGoroutines(w, r, path, at) }
	case f.holders:
		write = func(w io.Writer) error { return f.writeHolders(w, r, path, at) }
	case f.resident:
		write = func(w io.Writer) error { return f.writeResident(w, r, path, at) }
	case f.native:
		write = func(w io.Writer) error { return f.writeNative(w, r, path, at) }
	case f.csv:
		write = func(w io.Writer) error { return writeCSV(w, r) }
	case f.json:
		write = func(w io.Writer) error { return writeMoment(w, r, path, at) }
	}
	return f.to(s, write)
}

// to writes the output: to standard output, or to the file asked for.
func (f exportFlags) to(s *streams, write func(io.Writer) error) error {
	if f.output == "" {
		out := io.Writer(s.out)
		if !f.text() {
			out = s.binary()
		}
		buffered := bufio.NewWriter(out)
		if err := write(buffered); err != nil {
			return err
		}
		return buffered.Flush()
	}
	if err := writeOutput(f.output, write); err != nil {
		return err
	}
	visible.Fprintf(s.err, "wrote %s\n", f.output)
	if !f.text() && !f.heapsnapshot && outfile.Kind(f.output) == "" {
		visible.Fprintf(s.err, "go tool pprof -http=: %s\n", visible.Shell(f.output))
	}
	return nil
}

// momentOf is the moment that explain would look at.
func momentOf(r *recording.Reader, path, at string) (*explain.Evidence, error) {
	e, err := explain.Load(r, path, at)
	return e, momentError(err, path)
}

func (f exportFlags) writePprof(w io.Writer, r *recording.Reader, path, at string) error {
	e, err := momentOf(r, path, at)
	if err != nil {
		return err
	}
	p, err := f.process(e)
	if err != nil {
		return err
	}
	sites, err := r.Sites(p.Key)
	if err != nil {
		return err
	}
	profile := p.Profile
	if profile == nil {
		if profile, err = r.ProfileAt(p.Key, e.Moment.At); err != nil {
			return fmt.Errorf("the process %d has no heap profile: %w", p.Key.PID, err)
		}
	}
	profile, view, name, err := f.viewOf(p, profile)
	if err != nil {
		return err
	}
	program, comment := origin(e, p)
	return heapdiff.Write(w, heapdiff.ToPprof(heapdiff.Profile{HeapProfile: profile, Sites: sites}, program, view, comment+", view "+name), f.format)
}

// origin is the program of a process, and where its evidence comes from.
func origin(e *explain.Evidence, p *sample.ProcessMoment) (program sample.Program, comment string) {
	for _, candidate := range e.Programs {
		if candidate.Key == p.Key {
			program = candidate
		}
	}
	return program, fmt.Sprintf("highwater: %s of %s, pid %d, at %s", e.At, program.Name, p.Key.PID, e.Moment.At.UTC().Format(time.RFC3339Nano))
}

func (f exportFlags) writeGoroutines(w io.Writer, r *recording.Reader, path, at string) error {
	e, err := momentOf(r, path, at)
	if err != nil {
		return err
	}
	p, err := f.process(e)
	if err != nil {
		return err
	}
	if len(p.Goroutines) == 0 {
		return fmt.Errorf("the goroutines of process %d were not read at this moment", p.Key.PID)
	}
	program, comment := origin(e, p)
	return heapdiff.Write(w, heapdiff.GoroutinesToPprof(p.Goroutines, e.Moment.At, program, comment), f.format)
}

// writeResident writes what made resident memory grow until the moment.
func (f exportFlags) writeResident(w io.Writer, r *recording.Reader, path, at string) error {
	e, err := momentOf(r, path, at)
	if err != nil {
		return err
	}
	p, err := f.process(e)
	if err != nil {
		return err
	}
	all, err := r.Growth(e.Moment.At)
	if err != nil {
		return err
	}
	growth := slices.DeleteFunc(all, func(g sample.ResidentGrowth) bool { return g.Process != p.Key })
	if len(growth) == 0 {
		return fmt.Errorf("the page faults of process %d were not sampled: highwater doctor says what that needs", p.Key.PID)
	}
	program, comment := origin(e, p)
	return heapdiff.Write(w, heapdiff.ResidentToPprof(growth, e.Moment.At, program, comment), f.format)
}

// writeNative writes C's live blocks at the moment.
func (f exportFlags) writeNative(w io.Writer, r *recording.Reader, path, at string) error {
	e, err := momentOf(r, path, at)
	if err != nil {
		return err
	}
	p, err := f.process(e)
	if err != nil {
		return err
	}
	readings, err := r.NativeReadings(e.Moment.At)
	if err != nil {
		return err
	}
	readings = slices.DeleteFunc(readings, func(n sample.NativeReading) bool { return n.Process != p.Key })
	if len(readings) == 0 {
		return fmt.Errorf("process %d was recorded without --native=live: nothing is known of C's live blocks", p.Key.PID)
	}
	all, err := r.NativeLive(e.Moment.At)
	if err != nil {
		return err
	}
	live := slices.DeleteFunc(all, func(n sample.NativeLive) bool { return n.Process != p.Key })
	program, comment := origin(e, p)
	return heapdiff.Write(w, heapdiff.NativeToPprof(live, e.Moment.At, readings[0].Interval, program, comment), f.format)
}

// writeHolders writes who held a captured heap.
func (f exportFlags) writeHolders(w io.Writer, r *recording.Reader, path, at string) error {
	c, err := explain.ChooseHeap(r, at)
	if err != nil {
		return heapMomentError(r, err, path)
	}
	programs, err := r.Programs()
	if err != nil {
		return err
	}
	var program sample.Program
	for _, p := range programs {
		if p.Key == c.Process {
			program = p
		}
	}
	comment := fmt.Sprintf("highwater: who held the heap of %s, pid %d, at %s", program.Name, c.Process.PID, c.At.UTC().Format(time.RFC3339Nano))
	return heapdiff.Write(w, heapdiff.HoldersToPprof(c, program, comment), f.format)
}

// viewOf is the profile as the view asked for shows it.
func (f exportFlags) viewOf(p *sample.ProcessMoment, h *sample.HeapProfile) (*sample.HeapProfile, heapdiff.View, string, error) {
	known := p.Live != nil && p.Live.Sampled != nil && p.Profile != nil
	name := f.view
	if name == "" {
		name = map[bool]string{true: "live", false: "published"}[known]
	}
	switch {
	case name == "published":
		return h, heapdiff.Published, name, nil
	case name == "now":
		return h, heapdiff.Now, name, nil
	case name == "live" && known:
		return heapdiff.Live(h, p.Live.Sampled), heapdiff.Now, name, nil
	case name == "live":
		return nil, 0, "", usagef("--view published", "what was live at this moment is not known: highwater counts that only at the end of a process")
	}
	return nil, 0, "", usagef("--view live, published or now", "no view %q", name)
}

// process is the one asked for, else the moment's subject.
func (f exportFlags) process(e *explain.Evidence) (*sample.ProcessMoment, error) {
	for i := range e.Moment.Processes {
		p := &e.Moment.Processes[i]
		if f.pid == 0 && p.Key == e.Subject || f.pid == p.Key.PID {
			return p, nil
		}
	}
	return nil, usagef("highwater export --json shows the processes of the moment", "no process %d at this moment", f.pid)
}

func writeMoment(w io.Writer, r *recording.Reader, path, at string) error {
	e, err := momentOf(r, path, at)
	if err != nil {
		return err
	}
	programs, err := r.Programs()
	if err != nil {
		return err
	}
	m, err := report.MomentOf(e, programs, r.Sites)
	if err != nil {
		return err
	}
	return report.JSON(w, m)
}

var csvHeader = []string{
	"at_ns", "pid", "usage_bytes", "limit_bytes", "anon_bytes", "page_cache_bytes", "shmem_bytes", "kernel_bytes",
	"resident_bytes", "heap_live_bytes", "heap_marked_bytes", "heap_goal_bytes", "heap_in_use_bytes", "stack_in_use_bytes", "gcs", "goroutines",
}
