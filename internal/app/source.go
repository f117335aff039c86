package app

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/highwater-go/highwater/internal/answer/listing"
	"github.com/highwater-go/highwater/internal/answer/moment"
	sourcetext "github.com/highwater-go/highwater/internal/files/source"
	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/show/report"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/visible"
)

// ListFunction prints a function with its figures by line.
func (f ExplainFlags) ListFunction(s *Streams, path string) error {
	r, err := recording.Open(path)
	if err != nil {
		return recordingError(err)
	}
	defer r.Close()
	defer tellDamage(s, r, path)
	side, err := moment.Load(r, path, f.At, f.PID, nil)
	if err != nil {
		return momentError(err, path)
	}
	baseline, err := side.Baseline(r)
	if err != nil {
		return err
	}
	l, err := listing.Of(side, baseline, f.List)
	if errors.Is(err, listing.ErrNoFunction) {
		return Usagef("--list takes a part of a function's name, or a regular expression", "%w", err)
	}
	if err != nil {
		return err
	}
	if !f.NoSource {
		l.FillIn(finder(f.Source, side.Program()), side.Start)
	}
	if f.JSON {
		return report.JSON(s.Out, l)
	}
	return report.ListingText(s.page(), l, s.look().With("highwater diff "+typed(path)+toFlag(f.At)))
}

// toFlag is the flag that asks diff for a moment.
func toFlag(at string) string {
	if at == "" {
		return ""
	}
	return " --to " + visible.Shell(at)
}

// sourceLines reads the lines of the program that a recording is of.
func (f ExplainFlags) sourceLines(path string) func(function, file string, line int) (string, bool) {
	var find *sourcetext.Finder
	return func(function, file string, line int) (string, bool) {
		if find == nil {
			find = finder(f.Source, goProgram(path))
		}
		text, err := find.Line(function, file, line)
		return text, err == nil
	}
}

// goProgram is the first Go program of a recording; the zero Program where none
// can be read.
func goProgram(path string) (p sample.Program) {
	r, err := recording.Open(path)
	if err != nil {
		return p
	}
	defer r.Close()
	all, err := r.Programs()
	if err != nil {
		return p
	}
	for _, p := range all {
		if p.Go != nil {
			return p
		}
	}
	return p
}

// finder looks for a program's source in the directory given, where it was built,
// and where this machine's Go keeps modules and its own library.
func finder(dir string, p sample.Program) *sourcetext.Finder {
	f := &sourcetext.Finder{Places: sourcetext.Places{Dir: dir}}
	f.GOROOT, f.ModCache = goPlaces()
	if p.Go != nil {
		f.Module, f.GoVersion = p.Go.Module, p.Go.Version
	}
	return f
}

// askGo bounds the wait for the go command.
const askGo = 5 * time.Second

// goPlaces are GOROOT and GOMODCACHE as the go command knows them; without one,
// as the environment has them, or Go's default (go help environment).
func goPlaces() (goroot, modCache string) {
	ctx, cancel := context.WithTimeout(context.Background(), askGo)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "env", "-json", "GOROOT", "GOMODCACHE")
	cmd.Env = append(os.Environ(), "GOTOOLCHAIN=local") // nothing is fetched to answer
	var env struct{ GOROOT, GOMODCACHE string }
	if out, err := cmd.Output(); err == nil && json.Unmarshal(out, &env) == nil {
		return env.GOROOT, env.GOMODCACHE
	}
	goroot, modCache = os.Getenv("GOROOT"), os.Getenv("GOMODCACHE")
	if home, err := os.UserHomeDir(); err == nil && modCache == "" {
		modCache = filepath.Join(home, "go", "pkg", "mod")
	}
	return goroot, modCache
}
