// Package gomem knows how the memory of a Go process, or of a core file, is laid out:
// the runtime's variables and structures, modules, the heap's spans, goroutines and
// their stacks. It needs no help from the program and does not stop it.
//
// Two packages stand on it, and not on each other: gostats reads what the runtime
// accounts, goheap the objects. What both need to find their way is exported here, and
// follows the runtime from one release to the next; it promises nothing to others.
//
// It stands on where the executable says that the runtime's variables and
// fields lie (package gobin) and guesses nothing: what it cannot find, or what
// does not look as it must, is refused by name, and the rest still works.
// It was checked against Go 1.20 to 1.27 on linux/amd64.
//
// It does not symbolise: program counters are the process's own, load bias
// included, for the caller to subtract.
package gomem

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/highwater-go/highwater/internal/eyes/gobin"
)

// ErrNotReady is returned by Attach while the process has not yet started its
// Go runtime: right after exec, before runtime.schedinit is through. Try again.
var ErrNotReady = errors.New("the Go runtime has not started yet")

// Feature names one thing that can be read, or refused, on its own.
type Feature string

// The features.
const (
	FeatureGoroutines Feature = "goroutines"
	FeatureRanges     Feature = "memory ranges"
	// FeaturePlugins may be refused later, when the program opens a plugin.
	FeaturePlugins Feature = "functions of plugins"
)

// Runtime is the Go runtime of one process. Its methods are not safe for
// concurrent use.
type Runtime struct {
	mem   Memory
	bin   *gobin.Binary
	bias  uint64
	why   map[Feature]error
	minor int  // 26 for Go 1.26
	still bool // a core: no time passes in it
	room  Room

	modules    ModuleReader
	goroutines goroutineReader
	spans      SpanReader
	tables     TableReader
}

// Attach finds the runtime of bin in mem, where bin is loaded bias bytes above
// its link-time addresses. It keeps mem and bin, which the caller closes.
//
// An error means that nothing can be read: ErrNotReady for now, any other for
// good. What only some features lack is said by Why.
func Attach(mem io.ReaderAt, bin *gobin.Binary, bias uint64) (*Runtime, error) {
	return attach(mem, bin, bias, false)
}

// AttachCore is Attach for memory in which no time passes: a core file, or a
// process that a debugger holds for long. How long a goroutine waits is counted
// to the latest time that the memory knows of, not to now.
func AttachCore(mem io.ReaderAt, bin *gobin.Binary, bias uint64) (*Runtime, error) {
	return attach(mem, bin, bias, true)
}

func attach(mem io.ReaderAt, bin *gobin.Binary, bias uint64, still bool) (*Runtime, error) {
	minor, ok := minorOf(bin.GoVersion)
	if !ok {
		return nil, fmt.Errorf("the runtime of %s is not known", bin.GoVersion)
	}
	r := &Runtime{mem: Memory{mem}, bin: bin, bias: bias, still: still, minor: minor, why: make(map[Feature]error)}
	find, err := r.Resolve()
	if err != nil {
		return nil, err
	}
	if err := r.started(find); err != nil {
		return nil, err
	}
	r.attachAll(find)
	if _, err := r.LearnModules(); err != nil {
		r.why[FeaturePlugins] = fmt.Errorf("%s: %w", FeaturePlugins, err)
	}
	return r, nil
}

// attachAll readies every feature, or notes why it cannot be had.
func (r *Runtime) attachAll(find *Resolver) {
	for _, f := range []struct {
		feature Feature
		attach  func(*Runtime, *Resolver) error
	}{
		{FeaturePlugins, r.modules.attach},
		{FeatureGoroutines, r.goroutines.attach},
		{FeatureRanges, r.attachRanges},
	} {
		if err := f.attach(r, find); err != nil {
			r.why[f.feature] = fmt.Errorf("%s: %w", f.feature, err)
		}
	}
}

// Why says why a feature cannot be had, nil if it can. The feature's own method
// returns the same error.
func (r *Runtime) Why(f Feature) error { return r.why[f] }

// Memory is that of the process.
func (r *Runtime) Memory() Memory { return r.mem }

// Binary is the executable, or the library, that has the runtime.
func (r *Runtime) Binary() *gobin.Binary { return r.bin }

// Bias is how far above its link-time addresses it is loaded.
func (r *Runtime) Bias() uint64 { return r.bias }

// Minor is 26 of Go 1.26.
func (r *Runtime) Minor() int { return r.minor }

// Room says how much of our memory may be taken, as Within has set it.
func (r *Runtime) Room() Room { return r.room }

// Modules are the program and its plugins.
func (r *Runtime) Modules() *ModuleReader { return &r.modules }

// Spans are those of the heap. They can be read where Why(FeatureRanges) is nil.
func (r *Runtime) Spans() *SpanReader { return &r.spans }

// Tables are where the heap's arenas and the runtime's own tables lie, where Why(FeatureRanges) is nil.
func (r *Runtime) Tables() *TableReader { return &r.tables }

// minorOf is 26 for "go1.26.8", "go1.26rc1" and "go1.26.8 X:nogreenteagc".
func minorOf(version string) (int, bool) {
	rest, ok := strings.CutPrefix(version, "go1.")
	if !ok {
		return 0, false
	}
	end := strings.IndexFunc(rest, func(c rune) bool { return c < '0' || c > '9' })
	if end < 0 {
		end = len(rest)
	}
	minor, err := strconv.Atoi(rest[:end])
	return minor, err == nil
}

// started reports ErrNotReady until runtime.schedinit has made the Ps and
// runtime.rt0_go the main goroutine, the last steps before Go code runs
// (runtime/proc.go, asm_amd64.s).
func (r *Runtime) started(find *Resolver) error {
	allglen, allp := find.Addr("allglen"), find.Addr("allp")
	module, text := find.Addr("firstmoduledata")+find.Offset("moduledata", "text"), find.Addr("text")
	if err := find.Err(); err != nil {
		return err
	}
	// The loader first maps all of a library's file in one piece, and then its
	// variables over that (elf/dl-map-segments.h): until it has relocated them
	// something else lies there.
	if at, err := r.mem.U64(module); r.bin.Settings["-buildmode"] == "c-shared" && (err != nil || at != text) {
		return ErrNotReady
	}
	goroutines, err := r.mem.U64(allglen)
	if err != nil {
		return err
	}
	ps, err := r.mem.U64(allp + 8)
	if err != nil {
		return err
	}
	if goroutines == 0 || ps == 0 {
		return ErrNotReady
	}
	return nil
}
