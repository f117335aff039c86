package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/eyes/pull"
	"github.com/highwater-go/highwater/internal/files/regular"
	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/visible"
)

// metaImported is the row of a recording's meta that says what it was made of.
const (
	metaImported = "imported"
	metaWatched  = "watched"
)

type ImportFlags struct {
	URL, Output, Exe string
	Every, Lasts     time.Duration
	Quiet            bool
	KeepArgs         KeepArgs
}

func (f ImportFlags) Run(ctx context.Context, s *Streams, args []string) error {
	if f.URL != "" {
		if len(args) > 0 {
			return Usagef("import the files on their own", "--url goes without files")
		}
		return f.poll(ctx, s)
	}
	if len(args) == 0 {
		return Usagef("highwater import heap.*.pb.gz, or --url localhost:6060", "import needs a file")
	}
	sources, err := readSources(args)
	if err != nil {
		return err
	}
	i := &importer{ImportFlags: f, s: s}
	if sources[0].core {
		return i.core(ctx, sources)
	}
	if sources[0].trace != nil {
		return i.traces(sources)
	}
	return i.profiles(sources)
}

// source is one file that was given: a core file, or what was read of another.
type source struct {
	path    string
	changed time.Time
	core    bool
	trace   *pull.TraceLog
	profile *pull.Profile
}

func (f source) base() string { return filepath.Base(f.path) }

// kind is what the file is, in words.
func (f source) kind() string {
	switch {
	case f.core:
		return "a core file"
	case f.trace != nil:
		return "a log"
	}
	return "a heap profile"
}

// readSources reads the files and refuses those that are none of what can be
// imported, or not alike.
func readSources(paths []string) ([]source, error) {
	var all []source
	for _, path := range paths {
		f, err := readSource(path)
		if err != nil {
			return nil, err
		}
		if len(all) > 0 && all[0].kind() != f.kind() {
			return nil, Usagef("import them one after the other", "%s is %s, %s %s", all[0].path, all[0].kind(), f.path, f.kind())
		}
		all = append(all, f)
	}
	return all, nil
}

func readSource(path string) (source, error) {
	f := source{path: path}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return f, Usagef("import reads files; --url fetches from a running program", "there is no file %q", path)
	case err != nil:
		return f, fmt.Errorf("import: %w", err)
	case info.IsDir():
		return f, Usagef("highwater import "+visible.Shell(path)+"/*", "%s is a directory", path)
	}
	f.changed = info.ModTime()
	file, err := regular.Open(path)
	if errors.Is(err, regular.ErrNot) {
		return f, Usagef("write it into a file first", "%w", err)
	}
	if err != nil {
		return f, fmt.Errorf("import: %w", err)
	}
	defer file.Close()
	if f.core, err = isCore(file); f.core || err != nil {
		return f, err
	}
	return f, f.read(file)
}

// read tries a log, which no profile looks like, and then a profile.
func (f *source) read(file *os.File) (err error) {
	if f.trace, err = pull.ReadTrace(file); err == nil {
		return nil
	}
	f.trace = nil
	if errors.Is(err, pull.ErrEmpty) {
		return Usagef("the program may not have written it yet, or to another file", "%s is empty", f.path)
	}
	if !errors.Is(err, pull.ErrNoCollector) {
		return fmt.Errorf("import %s: %w", f.path, err)
	}
	if _, err := file.Seek(0, 0); err != nil {
		return fmt.Errorf("import %s: %w", f.path, err)
	}
	if f.profile, err = pull.ReadProfile(file); err == nil {
		return nil
	}
	if errors.Is(err, pull.ErrHTML) {
		return Usagef("save the profile itself: curl -o heap.pb.gz http://HOST/debug/pprof/heap", "%s: not a heap profile but a page in HTML", f.path)
	}
	if errors.Is(err, pull.ErrNotProfile) {
		return Usagef("import reads heap profiles, logs with the lines of GODEBUG=gctrace=1, and core files",
			"%s: not a heap profile, gctrace log or core file", f.path)
	}
	return Usagef("import reads heap profiles that runtime/pprof writes", "%s: %w", f.path, err)
}

// importer writes one recording.
type importer struct {
	ImportFlags
	s    *Streams
	w    *recording.Writer
	path string
}

// create makes the recording; name is the program's, at when its evidence begins.
func (i *importer) create(kind, name string, at time.Time) (err error) {
	if name == "" {
		name = "import"
	}
	if i.path, err = recordingPath(i.Output, name); err != nil {
		return err
	}
	i.w, err = recording.Create(i.path, recording.Meta{Tool: Version(), At: at, More: map[string]string{metaImported: kind}})
	return err
}

// finish closes the recording and explains it. After an error there is none.
func (i *importer) finish(err error) error {
	if err != nil {
		i.remove()
		return err
	}
	if err := i.w.Flush(); err != nil {
		i.remove()
		return err
	}
	a, answerErr := answer(i.path, "")
	if answerErr == nil {
		answerErr = keepVerdict(i.w, a)
	}
	if err := errors.Join(answerErr, i.w.Close()); err != nil {
		return err
	}
	keepBound(i.path, i.sayf)
	if !i.Quiet {
		visible.Fprintf(i.s.Err, "wrote %s\n\n", i.path)
		if err := (ExplainFlags{}).Print(i.s, i.path, a); err != nil {
			return err
		}
	}
	if a.Verdict.Class == explain.Inconclusive {
		return ExitWith(ExitInconclusive)
	}
	return nil
}

func (i *importer) remove() {
	if i.w == nil {
		return
	}
	_ = i.w.Close()
	for _, end := range []string{"", "-wal", "-shm"} {
		_ = os.Remove(i.path + end)
	}
}

// gap records what such evidence does not say.
func (i *importer) gap(key sample.ProcessKey, from, to time.Time, what, why string) error {
	return i.w.Gap(sample.Gap{From: from, To: to, Process: key, What: what, Why: why})
}

// sayf tells of something on the way.
func (i *importer) sayf(format string, args ...any) {
	if !i.Quiet {
		visible.Fprintf(i.s.Err, format+"\n", args...)
	}
}
