package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/corefile"
	"github.com/highwater-go/highwater/internal/eyes/gobin"
	"github.com/highwater-go/highwater/internal/eyes/goheap"
	"github.com/highwater-go/highwater/internal/eyes/gomem"
	"github.com/highwater-go/highwater/internal/eyes/gostats"
	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// markTime bounds the mark over a core: some seconds for each GB of heap.
const markTime = 5 * time.Minute

// isCore looks at a file's first bytes; other ELF files are refused.
func isCore(f *os.File) (bool, error) {
	core, other := corefile.Is(f)
	if other != "" {
		return false, Usagef("name the core file; --exe names its executable", "%s is %s, not a core file", f.Name(), other)
	}
	return core, nil
}

// coreReader reads one core file. What it cannot read is a gap.
type coreReader struct {
	*importer
	core    *corefile.Core
	bin     *gobin.Binary
	bias    uint64
	runtime *gomem.Runtime // nil: it cannot be read
	stats   *gostats.Stats // of runtime
	heap    *goheap.Heap   // of runtime
	program sample.Program
	at      time.Time
	gaps    []sample.Gap
	sites   []sample.Site
}

// core imports a core file.
func (i *importer) core(ctx context.Context, files []source) error {
	if len(files) > 1 {
		return Usagef("import them one after the other", "a recording takes one core file, not %d", len(files))
	}
	core, err := corefile.Open(files[0].path)
	if err != nil {
		return Usagef("the kernel and gcore write core files; --exe names the executable", "import: %w", err)
	}
	defer core.Close()
	r := &coreReader{importer: i, core: core, at: files[0].changed}
	if err := r.open(); err != nil {
		return err
	}
	defer r.bin.Close()
	if err := r.attach(); err != nil {
		return err
	}
	i.sayf("reading %s, the memory of %s (pid %d)", files[0].base(), r.program.Name, core.PID)
	m, err := r.moment(ctx)
	if err != nil {
		return fmt.Errorf("import %s: %w", files[0].path, err)
	}
	if err := i.create("core", r.program.Name, r.at); err != nil {
		return err
	}
	return i.finish(r.write(m, files[0].base()))
}

// open finds the executable: the one named, or where it was when it ran.
func (r *coreReader) open() error {
	was := r.core.ExecutablePath()
	exe := r.Exe
	if exe == "" {
		exe = was
	}
	if exe == "" {
		return Usagef("highwater import --exe ./server core", "the core file does not say which executable ran")
	}
	verified, err := r.core.UseExecutable(exe)
	switch {
	case errors.Is(err, corefile.ErrOther):
		return Usagef("name the executable that ran with --exe", "%s: %w", exe, err)
	case errors.Is(err, fs.ErrNotExist):
		return Usagef("highwater import --exe PATH "+"core", "there is no executable %s", exe)
	case err != nil:
		return fmt.Errorf("import: %w", err)
	}
	if !verified {
		r.gap("whether "+exe+" is the executable that ran", errors.New("the core file does not hold its build ID"))
	}
	base, err := r.openBinary(exe)
	if err != nil {
		return err
	}
	r.bias = base - r.bin.Base()
	r.describe(was)
	return nil
}

// openBinary opens what holds the Go runtime, the executable or a library built by
// Go that a program in C had loaded, and gives where it was mapped.
func (r *coreReader) openBinary(exe string) (base uint64, err error) {
	r.core.UseLibraries()
	r.bin, err = gobin.Open(exe)
	if err == nil {
		return r.core.Base()
	}
	for _, f := range r.core.Libraries() {
		if !errors.Is(err, gobin.ErrNotGo) || !gobin.IsGo(f.Path) {
			continue
		}
		if bin, e := gobin.Open(f.Path); e == nil && bin.Settings["-buildmode"] == "c-shared" {
			r.bin = bin
			return f.Start, nil
		} else if e == nil {
			bin.Close()
		}
	}
	return 0, Usagef("a core file is read for what Go's runtime says of itself", "%w", err)
}

func (r *coreReader) describe(exe string) {
	r.program = sample.Program{
		Key: sample.ProcessKey{PID: r.core.PID}, Name: path.Base(exe), Exe: exe,
		Args: procfs.Redact(r.core.Args), Go: r.bin.GoProgram(), HeapProfile: sample.HeapProfileUnknown,
	}
}

// attach finds the runtime. A program whose runtime cannot be read is refused:
// nothing else in a core is known to Highwater.
func (r *coreReader) attach() (err error) {
	if r.runtime, err = gomem.AttachCore(r.core, r.bin, r.bias); err == nil {
		r.stats, r.heap = gostats.New(r.runtime), goheap.New(r.runtime)
		return nil
	}
	if lost := r.core.Lost(); lost > 0 {
		err = fmt.Errorf("%w; the core file is cut, %d bytes of memory are missing", err, lost)
	}
	return &ExitError{Code: ExitFailed, Err: fmt.Errorf("read the Go runtime of %s in the core file: %w", r.program.Name, err)}
}

func (r *coreReader) gap(what string, why error) {
	r.gaps = append(r.gaps, sample.Gap{Process: r.program.Key, What: what, Why: why.Error()})
}

// moment is what the core holds, as though the process were held at its end.
func (r *coreReader) moment(ctx context.Context) (*sample.Moment, error) {
	pm := sample.ProcessMoment{Key: r.program.Key}
	if deadly(r.core.Signal) {
		pm.Signal = r.core.Signal
	}
	r.takeFigures(&pm)
	r.takeProfile(&pm)
	r.takeGoroutines(&pm)
	r.takeLive(ctx, &pm)
	if err := r.takeResidency(&pm); err != nil {
		return nil, err
	}
	r.takeMalloc(&pm)
	if lost := r.core.Lost(); lost > 0 {
		r.gap("a part of the memory", fmt.Errorf("the core file is cut: %d bytes are missing", lost))
	}
	r.gap("the time before, the memory limit, the kernel's and the page cache's part", errors.New("a core file is one instant of one process"))
	kind := sample.MomentMax
	if pm.Signal != 0 {
		kind = sample.MomentDeath
	}
	return &sample.Moment{At: r.at, Kind: kind, Processes: []sample.ProcessMoment{pm}}, nil
}

func (r *coreReader) takeFigures(pm *sample.ProcessMoment) {
	var figures sample.Runtime
	if err := r.stats.Counters(&figures); err != nil {
		r.gap("Go's figures", err)
		return
	}
	pm.Go = &figures
}

// takeProfile reads the heap profile, and puts its sites into source terms.
func (r *coreReader) takeProfile(pm *sample.ProcessMoment) {
	var h sample.HeapProfile
	if err := r.stats.Profile(&h); err != nil {
		r.gap("the heap profile", err)
		return
	}
	h.At = r.at
	r.program.HeapProfile = sample.HeapProfileOn
	if h.Rate == 0 {
		r.program.HeapProfile = sample.HeapProfileOff
		r.program.WhyNot = "the program kept none: its linker or the program itself had switched it off"
		return
	}
	pm.Profile = &h
	symbols := r.bin.Symbolizer(r.bias)
	for _, b := range r.stats.Buckets(0) {
		r.sites = append(r.sites, symbols.Site(b))
	}
}

// takeGoroutines groups the goroutines. How long they waited is counted to the
// latest time that the core knows of.
func (r *coreReader) takeGoroutines(pm *sample.ProcessMoment) {
	groups, err := r.stats.Goroutines()
	if err != nil {
		r.gap("goroutines", err)
		return
	}
	r.bin.Symbolizer(r.bias).Goroutines(groups)
	pm.Goroutines = groups
}

func (r *coreReader) takeLive(ctx context.Context, pm *sample.ProcessMoment) {
	ctx, cancel := context.WithTimeout(ctx, markTime)
	defer cancel()
	live, err := r.heap.LiveObjects(ctx, r.stats)
	if err != nil {
		r.gap("what was live", err)
		return
	}
	pm.Live = live
}

func (r *coreReader) takeResidency(pm *sample.ProcessMoment) (err error) {
	ranges, err := r.runtime.Ranges(nil)
	if err != nil {
		r.gap("which pages hold what", err)
	}
	pm.Residency, err = r.core.Residency(ranges, err == nil)
	r.gap("which pages were resident", errors.New("a core file does not say; all that hold anything but zeros are counted, swapped ones too"))
	return err
}

// write makes the recording.
func (r *coreReader) write(m *sample.Moment, file string) error {
	key := r.program.Key
	r.program.Args = r.KeepArgs.command(r.program)
	err := errors.Join(
		r.w.Program(r.program),
		r.w.Event(sample.Event{At: r.at, Kind: sample.EventNote, Process: key, Text: "core file " + file}))
	for _, g := range r.gaps {
		err = errors.Join(err, r.w.Gap(g))
	}
	err = errors.Join(err, r.w.Sites(key, 0, r.sites), r.w.Moment(m))
	if n := m.Processes[0].Signal; n != 0 {
		err = errors.Join(err, r.w.Event(sample.Event{At: r.at, Kind: sample.EventExit, Process: key, Value: int64(128 + n), Text: fmt.Sprintf("signal %d", n)}))
	}
	return err
}

// deadly are the signals that make Linux write a core (signal(7)), by its numbers
// on amd64 and arm64; gcore leaves others, of a process that lives on.
func deadly(signal int) bool {
	switch signal {
	case 3, 4, 5, 6, 7, 8, 11, 24, 25, 31: // SIGQUIT ILL TRAP ABRT BUS FPE SEGV XCPU XFSZ SYS
		return true
	}
	return false
}
