package watch

import (
	"fmt"
	"slices"

	"github.com/highwater-go/highwater/internal/eyes/gobin"
	"github.com/highwater-go/highwater/internal/eyes/gomem"
	"github.com/highwater-go/highwater/internal/eyes/gostats"
	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/units"
)

// A process may have several Go runtimes, each with a heap and a collector of its own:
// a Go program that loads a library built by Go, or another that loads two. One is
// read, the program's own or that of the first library; of the others it is said that
// they are there, and what they take.

// otherRuntime is a Go runtime that is not the one that is read.
type otherRuntime struct {
	name  string // of the library
	bin   *gobin.Binary
	stats *gostats.Stats // nil: it cannot be read
}

// otherRuntimes opens the Go libraries that have come since the last call and whose
// runtime is not the one that is read. The caller closes their files.
func (p *process) otherRuntimes(m *procfs.Mapper, tid int) (found []otherRuntime) {
	libraries, err := m.Libraries(p.root, tid)
	if err != nil || slices.Equal(startsOf(libraries), p.besides) {
		return nil
	}
	before := p.besides
	p.besides = startsOf(libraries)
	for _, at := range libraries {
		if slices.Contains(before, at.Start) || at.Start == p.bin.Base()+p.bias {
			continue
		}
		bin := goLibrary(p.root, tid, at, p.mem)
		if bin == nil {
			continue
		}
		runtime, err := gomem.Attach(p.mem, bin, at.Start-bin.Base())
		if isNotReady(err) { // it is being loaded
			bin.Close()
			p.besides = slices.DeleteFunc(p.besides, func(start uint64) bool { return start == at.Start })
			continue
		}
		var stats *gostats.Stats
		if err == nil {
			stats = gostats.New(runtime)
		}
		found = append(found, otherRuntime{nameOf(at), bin, stats})
	}
	return found
}

// size says what the runtime has of memory at a time, free pages included.
func (o *otherRuntime) size(when string) string {
	var now sample.Runtime
	if o.stats == nil || o.stats.Counters(&now) != nil {
		return "this one's size is not known"
	}
	return fmt.Sprintf("this one took %s %s, %s of that live heap", units.Size(now.MappedReady), when, units.Size(now.HeapLive))
}

// tellOthers tells of Go runtimes that are not read: when they are found, and at the
// end of the process once more, with what they take then.
func (s *Source) tellOthers(p *process, tid int) {
	if p.symbols == nil {
		return
	}
	known := len(p.others)
	p.others = append(p.others, p.otherRuntimes(s.mapper, tid)...)
	for i := range p.others {
		o := &p.others[i]
		what := fmt.Sprintf("the Go runtime of %s in %s", o.name, p.program.Name)
		switch {
		case i >= known:
			s.gap(p.key, what, fmt.Errorf("only one Go runtime of a process is read: %s, and counts as memory outside of Go's", o.size("when it was found")))
		case p.held:
			s.gap(p.key, what+", once more", fmt.Errorf("%s, and counts as memory outside of Go's", o.size("at the end")))
		}
	}
}
