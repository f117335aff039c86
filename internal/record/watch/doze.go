package watch

import (
	"github.com/highwater-go/highwater/internal/eyes/cgroup"
	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// doze is how growth is heard of while nobody looks.
type doze struct {
	stirred chan struct{}
	rise    *cgroup.Rise // nil: none is asked for
	deaf    bool         // the kernel does not tell
	read    bool         // executables may have been read since the last rest
}

// The charge may rise by an eighth of what is left to the limit, or of itself where there is
// none, before a rest is ended for it: within these bounds.
const (
	riseLeast = sample.MiB
	riseMost  = 16 * sample.MiB
	riseShare = 8
)

// Stirred is that of capture.Source.
func (s *Source) Stirred() <-chan struct{} { return s.doze.stirred }

// Doze is that of capture.Source. Programs without a charge have no limit to meet.
func (s *Source) Doze() (hears bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgetFiles()
	g, d := s.account.group, &s.doze
	if g == nil || d.deaf {
		return !d.deaf
	}
	usage, limit := s.cgroup.Usage, s.cgroup.Limit
	step := usage / riseShare
	if limit.OK {
		step = limit.V.Sub(usage) / riseShare
	}
	at := usage + min(max(step, riseLeast), riseMost)
	if limit.OK && at >= limit.V {
		return false // it could not be heard before the limit is met
	}
	if r := d.rise; r != nil && r.At > usage+riseLeast/2 && r.At <= at+riseLeast {
		return true
	}
	d.close()
	rise, err := g.OnRise(at, func() { ring(d.stirred) })
	if err != nil {
		d.deaf = true
		return false
	}
	d.rise = rise
	if now, err := g.ReadUsage(); err == nil && now >= at { // it rose before the kernel knew of the threshold
		ring(d.stirred)
	}
	return true
}

// forgetFiles takes the pages of executables out of our resident set that a moment or a
// profile has read since the last rest.
func (s *Source) forgetFiles() {
	if !s.doze.read {
		return
	}
	s.doze.read = false
	*s.mapper = procfs.Mapper{} // with the mappings of the last moment
	for _, p := range s.order {
		if p.symbols != nil {
			p.symbols.Release()
		}
	}
}

func (d *doze) close() {
	if d.rise != nil {
		d.rise.Close()
		d.rise = nil
	}
}

func ring(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default: // it has not been heard yet
	}
}
