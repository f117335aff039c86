package app

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/files/outfile"
	"github.com/highwater-go/highwater/internal/measure/heapdiff"
	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/show/perfetto"
	"github.com/highwater-go/highwater/internal/show/report"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/visible"
)

type ExportFlags struct {
	Pprof, Goroutines, Holders, Resident, Native, Heapsnapshot, CSV, JSON, Perfetto bool
	At, Output, View, Format, Push, PushToken                                       string
	PID, Most                                                                       int
	Heap                                                                            HeapFlags // of heapsnapshot
}

func (f ExportFlags) Run(ctx context.Context, s *Streams, args []string) error {
	if err := f.checkFormat(); err != nil {
		return err
	}
	if err := f.checkPush(); err != nil {
		return err
	}
	if f.Heapsnapshot {
		return f.writeHeap(ctx, s, args)
	}
	moment := ExplainFlags{At: f.At}
	args = moment.SplitMoment(args)
	path, err := FindRecording(args)
	if err != nil {
		return err
	}
	return f.Heap.within("export", func() error { return f.read(ctx, s, path, moment.At) })
}

// checkFormat refuses a format that there is not, or that is not of profiles.
func (f ExportFlags) checkFormat() error {
	switch {
	case !slices.Contains(heapdiff.Formats(), f.Format):
		return Usagef("--format pprof, folded, speedscope or "+heapdiff.OTLP, "no format %q", f.Format)
	case f.Format != "pprof" && (f.CSV || f.JSON || f.Perfetto || f.Heapsnapshot):
		return Usagef("highwater export --format "+f.Format, "--format is for profiles, and not for --csv, --json, --perfetto or --heapsnapshot")
	}
	return nil
}

// text reports whether what is written can be read on a terminal.
func (f ExportFlags) text() bool {
	return f.CSV || f.JSON || f.Format == "folded" || f.Format == "speedscope"
}

// read writes what was asked for of a recording.
func (f ExportFlags) read(ctx context.Context, s *Streams, path, at string) error {
	if f.Output == "" && f.Push == "" && IsTTY(FileOf(s.Out)) && !f.text() {
		return Usagef("highwater export --pprof > heap.pb.gz", "a pprof file or a trace is binary: it is not written to a terminal")
	}
	r, err := recording.Open(path)
	if err != nil {
		return recordingError(err)
	}
	defer r.Close()
	defer tellDamage(s, r, path)
	write := f.writer(r, path, at)
	if f.Push != "" {
		return f.send(ctx, s, write)
	}
	return f.to(s, write)
}

// writer is what writes what was asked for.
func (f ExportFlags) writer(r *recording.Reader, path, at string) func(io.Writer) error {
	switch {
	case f.Goroutines:
		return func(w io.Writer) error { return f.writeGoroutines(w, r, path, at) }
	case f.Holders:
		return func(w io.Writer) error { return f.writeHolders(w, r, path, at) }
	case f.Resident:
		return func(w io.Writer) error { return f.writeResident(w, r, path, at) }
	case f.Native:
		return func(w io.Writer) error { return f.writeNative(w, r, path, at) }
	case f.CSV:
		return func(w io.Writer) error { return writeCSV(w, r) }
	case f.JSON:
		return func(w io.Writer) error { return writeMoment(w, r, path, at) }
	case f.Perfetto:
		return func(w io.Writer) error { return perfetto.Write(w, r) }
	}
	return func(w io.Writer) error { return f.writePprof(w, r, path, at) }
}

// to writes the output: to standard output, or to the file asked for.
func (f ExportFlags) to(s *Streams, write func(io.Writer) error) error {
	if f.Output == "" {
		out := io.Writer(s.Out)
		if !f.text() {
			out = s.binary()
		}
		buffered := bufio.NewWriter(out)
		if err := write(buffered); err != nil {
			return err
		}
		return buffered.Flush()
	}
	if err := writeOutput(f.Output, write); err != nil {
		return err
	}
	visible.Fprintf(s.Err, "wrote %s\n", f.Output)
	if f.Perfetto {
		visible.Fprintf(s.Err, "ui.perfetto.dev opens it\n")
	}
	if !f.text() && !f.Heapsnapshot && !f.Perfetto && f.Format == "pprof" && outfile.Kind(f.Output) == "" {
		visible.Fprintf(s.Err, "go tool pprof -http=: %s\n", visible.Shell(f.Output))
	}
	return nil
}

// momentOf is the moment that explain would look at.
func momentOf(r *recording.Reader, path, at string) (*explain.Evidence, error) {
	e, err := explain.Load(r, path, at)
	return e, momentError(err, path)
}

// processAt is the process that is meant at that moment.
func (f ExportFlags) processAt(r *recording.Reader, path, at string) (*explain.Evidence, *sample.ProcessMoment, error) {
	e, err := momentOf(r, path, at)
	if err != nil {
		return nil, nil, err
	}
	p, err := f.process(e)
	return e, p, err
}

func (f ExportFlags) writePprof(w io.Writer, r *recording.Reader, path, at string) error {
	e, p, err := f.processAt(r, path, at)
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
	return heapdiff.Write(w, heapdiff.ToPprof(heapdiff.Profile{HeapProfile: profile, Sites: sites}, program, view, comment+", view "+name), f.Format)
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

func (f ExportFlags) writeGoroutines(w io.Writer, r *recording.Reader, path, at string) error {
	e, p, err := f.processAt(r, path, at)
	if err != nil {
		return err
	}
	if len(p.Goroutines) == 0 {
		return fmt.Errorf("the goroutines of process %d were not read at this moment", p.Key.PID)
	}
	program, comment := origin(e, p)
	return heapdiff.Write(w, heapdiff.GoroutinesToPprof(p.Goroutines, e.Moment.At, program, comment), f.Format)
}

// writeResident writes what made resident memory grow until the moment.
func (f ExportFlags) writeResident(w io.Writer, r *recording.Reader, path, at string) error {
	e, p, err := f.processAt(r, path, at)
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
	return heapdiff.Write(w, heapdiff.ResidentToPprof(growth, e.Moment.At, program, comment), f.Format)
}

// writeNative writes C's live blocks at the moment.
func (f ExportFlags) writeNative(w io.Writer, r *recording.Reader, path, at string) error {
	e, p, err := f.processAt(r, path, at)
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
	return heapdiff.Write(w, heapdiff.NativeToPprof(live, e.Moment.At, readings[0].Interval, program, comment), f.Format)
}

// writeHolders writes who held a captured heap.
func (f ExportFlags) writeHolders(w io.Writer, r *recording.Reader, path, at string) error {
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
	return heapdiff.Write(w, heapdiff.HoldersToPprof(c, program, comment), f.Format)
}

// viewOf is the profile as the view asked for shows it.
func (f ExportFlags) viewOf(p *sample.ProcessMoment, h *sample.HeapProfile) (*sample.HeapProfile, heapdiff.View, string, error) {
	known := p.Live != nil && p.Live.Sampled != nil && p.Profile != nil
	name := f.View
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
		return nil, 0, "", Usagef("--view published", "what was live at this moment is not known: highwater counts that only at the end of a process")
	}
	return nil, 0, "", Usagef("--view live, published or now", "no view %q", name)
}

// process is the one asked for, else the moment's subject.
func (f ExportFlags) process(e *explain.Evidence) (*sample.ProcessMoment, error) {
	for i := range e.Moment.Processes {
		p := &e.Moment.Processes[i]
		if f.PID == 0 && p.Key == e.Subject || f.PID == p.Key.PID {
			return p, nil
		}
	}
	return nil, Usagef("highwater export --json shows the processes of the moment", "no process %d at this moment", f.PID)
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
