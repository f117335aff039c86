package main

import (
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// target is a platform that is published.
type target struct{ os, arch string }

func (t target) String() string { return t.os + "_" + t.arch }

// program is its file's name.
func (t target) program() string {
	if t.os == "windows" {
		return "highwater.exe"
	}
	return "highwater"
}

// On all but linux Highwater reads recordings, and records none.
var published = []target{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"}}

// targetsOf reads a list of targets, all that are published where it is empty. The program for
// this machine must be among them: it writes its manual.
func targetsOf(list string) ([]target, error) {
	if list == "" {
		return published, nil
	}
	var chosen []target
	for _, one := range strings.Split(list, ",") {
		goos, arch, _ := strings.Cut(one, "/")
		if t := (target{goos, arch}); slices.Contains(published, t) {
			chosen = append(chosen, t)
			continue
		}
		return nil, fmt.Errorf("%q is not published; targets are %v", one, published)
	}
	if here := (target{runtime.GOOS, runtime.GOARCH}); !slices.Contains(chosen, here) {
		return nil, fmt.Errorf("%s is not among the targets: its program writes the manual", here)
	}
	return chosen, nil
}

// release is one version on its way.
type release struct {
	from, to, work string
	targets        []target
	version        string    // as the go command stamps it
	at             time.Time // of the commit
	files          []file    // manual pages, completions, licence: in every archive and package
}

// plain is the version without its v.
func (r *release) plain() string { return strings.TrimPrefix(r.version, "v") }

func (r *release) program(t target) string {
	return filepath.Join(r.work, t.String(), t.program())
}

// clone checks the commit out anew: what is published is what is committed.
func (r *release) clone() error {
	out, err := exec.Command("git", "-C", r.from, "rev-parse", "HEAD").Output()
	if err != nil {
		return fmt.Errorf("which commit is checked out in %s: %w", r.from, err)
	}
	to := filepath.Join(r.work, "source")
	for _, args := range [][]string{{"clone", "-q", "--no-checkout", r.from, to}, {"-C", to, "checkout", "-q", "--detach", strings.TrimSpace(string(out))}} {
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w: %s", args[0], err, out)
		}
	}
	r.from = to
	return nil
}

// tags leave HTTP/2 out of net/http: what Highwater asks and serves is HTTP/1.1 everywhere (docs/adr/0119).
const tags = "nethttpomithttp2"

// hot are the packages in which functions are inlined: what reads and writes while a program is watched, and what
// that stands on. Everything else is without: a megabyte less of code and of tables for stack traces.
var hot = []string{
	"runtime/...", "internal/...", "sync/...", "unicode/...", "math/...", "bytes", "strings", "strconv", "encoding/binary", "io", "bufio", "os", "syscall", "time",
	"sort", "slices", "maps", "iter", "hash/...", "errors", "fmt", "reflect", "golang.org/x/sys/...", "modernc.org/...", "github.com/klauspost/...",
	module + "/internal/eyes/...", module + "/internal/record/...", module + "/internal/measure/...", module + "/internal/words/...",
}

const module = "github.com/highwater-go/highwater"

// inlining are the flags of go build for that; the last that names a package counts.
func inlining() []string {
	flags := []string{"-gcflags=all=-l"}
	for _, pattern := range hot {
		flags = append(flags, "-gcflags="+pattern+"=")
	}
	return flags
}

// link are the linker's flags: no symbols, and functions side by side where the processor does not ask for more.
func link(t target) string {
	align := 16
	if t.arch == "amd64" {
		align = 1
	}
	return fmt.Sprintf("-s -w -funcalign=%d", align)
}

// build builds the program for every target, and reads from the first what was stamped.
func (r *release) build() error {
	for _, t := range r.targets {
		cmd := exec.Command("go", slices.Concat([]string{"build", "-trimpath", "-buildvcs=true", "-tags=" + tags, "-ldflags=" + link(t)}, inlining(),
			[]string{"-o", r.program(t), "./cmd/highwater"})...)
		cmd.Dir, cmd.Stderr = r.from, os.Stderr
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOOS="+t.os, "GOARCH="+t.arch, "GOAMD64=v1", "GOARM64=v8.0")
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("build for %s: %w", t, err)
		}
	}
	return r.stamped()
}

// stamped reads the version and the commit's time from the first program.
func (r *release) stamped() error {
	info, err := buildinfo.ReadFile(r.program(r.targets[0]))
	if err != nil {
		return err
	}
	r.version = info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.time" {
			r.at, err = time.Parse(time.RFC3339, s.Value)
		}
	}
	if err != nil || r.at.IsZero() || !strings.HasPrefix(r.version, "v") {
		return fmt.Errorf("the go command stamped the version %q and no time of a commit: build in a repository of git", r.version)
	}
	return nil
}

// documents makes what comes with the program, by the program for this machine.
func (r *release) documents() error {
	here := target{runtime.GOOS, runtime.GOARCH}
	man := filepath.Join(r.work, "man")
	said := func(args ...string) ([]byte, error) {
		cmd := exec.Command(r.program(here), args...)
		cmd.Env = append(os.Environ(), "SOURCE_DATE_EPOCH="+strconv.FormatInt(r.at.Unix(), 10), "TZ=UTC")
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("highwater %s: %w", strings.Join(args, " "), err)
		}
		return out, nil
	}
	if _, err := said("man", man); err != nil {
		return err
	}
	pages, err := filepath.Glob(filepath.Join(man, "*.1"))
	if err != nil || len(pages) == 0 {
		return fmt.Errorf("no manual pages in %s: %w", man, err)
	}
	for _, page := range pages {
		r.files = append(r.files, file{page, "share/man/man1/" + filepath.Base(page), 0o644})
	}
	for shell, path := range map[string]string{
		"bash": "share/bash-completion/completions/highwater", "zsh": "share/zsh/vendor-completions/_highwater",
		"fish": "share/fish/vendor_completions.d/highwater.fish",
	} {
		script, err := said("completion", shell)
		if err != nil {
			return err
		}
		kept := filepath.Join(r.work, "completion."+shell)
		if err := os.WriteFile(kept, script, 0o644); err != nil {
			return err
		}
		r.files = append(r.files, file{kept, path, 0o644})
	}
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
		r.files = append(r.files, file{filepath.Join(r.from, name), "share/doc/highwater/" + name, 0o644})
	}
	return nil
}

// shell builds the debug image's shell for a target, from the module of tools.
func (r *release) shell(t target, dir string) (string, error) {
	to := filepath.Join(r.work, t.String(), "sh")
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", to, dir)
	cmd.Dir, cmd.Stderr = filepath.Join(r.from, "tools"), os.Stderr
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOOS="+t.os, "GOARCH="+t.arch, "GOAMD64=v1", "GOARM64=v8.0")
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("build the shell for %s: %w", t, err)
	}
	return to, nil
}
