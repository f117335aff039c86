package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/cgroup"
	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/show/fleet"
	"github.com/highwater-go/highwater/internal/words/units"
	"github.com/highwater-go/highwater/internal/words/visible"
)

// mostSkew is how far the clocks of an agent and its store may be apart: hours of the fleet
// are told by the agents' clocks.
const mostSkew = 5 * time.Minute

// finding is one thing that --check looked at.
type finding struct {
	what string
	err  error  // nil: it is well
	note string // what is known of it
}

// checkHere says what an agent would have here and what not. It watches nothing.
func (f *AgentFlags) checkHere(ctx context.Context, s *Streams) error {
	ctx, done := context.WithTimeout(ctx, time.Minute)
	defer done()
	all := []finding{f.checkPrograms(), checkNamespace(), checkCgroup(), f.checkSpool(), f.checkStore(ctx), f.checkRecordings(ctx), f.checkOutlets()}
	if f.Metrics != "" {
		l, err := net.Listen("tcp", f.Metrics)
		if err == nil {
			err = l.Close()
		}
		all = append(all, finding{what: "metrics", err: err, note: f.Metrics})
	}
	wrong := 0
	for _, one := range all {
		switch {
		case one.err != nil:
			wrong++
			visible.Fprintf(s.Out, "no   %-11s %v\n", one.what, one.err)
		default:
			visible.Fprintf(s.Out, "yes  %-11s %s\n", one.what, one.note)
		}
	}
	if wrong > 0 {
		return ExitWith(ExitFailed)
	}
	return nil
}

// checkPrograms looks at whether other users' programs can be read.
func (f *AgentFlags) checkPrograms() finding {
	one := finding{what: "programs"}
	pids, err := procfs.Processes("/proc")
	if err != nil {
		one.err = err
		return one
	}
	hidden := 0
	for _, pid := range pids {
		if _, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); errors.Is(err, os.ErrPermission) {
			hidden++
		}
	}
	one.note = fmt.Sprintf("%d processes are seen", len(pids))
	if hidden > 0 {
		one.err = fmt.Errorf("%d of %d processes may not be read: run as root, or with CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH", hidden, len(pids))
	}
	return one
}

func checkNamespace() finding {
	one := finding{what: "pids", note: "all of this machine"}
	if !firstNamespace() {
		one.note = "those of this PID namespace alone; hostPID: true shows a pod all of its node"
	}
	return one
}

func checkCgroup() finding {
	h, err := cgroup.Detect("/")
	if err != nil {
		return finding{what: "cgroups", err: err}
	}
	return finding{what: "cgroups", note: fmt.Sprintf("version %d at %s", h.Version, h.Mount)}
}

func (f *AgentFlags) checkSpool() finding {
	one := finding{what: "spool", note: f.Spool}
	if f.Print {
		one.note = "none, with --print"
		return one
	}
	size, _ := units.ParseSize(f.SpoolSize) // plan has read it
	spool, err := fleet.OpenSpool(f.Spool, int64(size))
	if err != nil {
		one.err = err
		return one
	}
	if st := spool.Stats(); st.Batches > 0 {
		one.note += fmt.Sprintf(", where %s wait since %s", units.Size(st.Bytes), st.Oldest.Format(time.DateTime))
	}
	one.err = errors.Join(writable(f.Spool), spool.Close())
	return one
}

// writable makes a file and removes it.
func writable(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	sub, err := os.MkdirTemp(dir, ".check-")
	if err != nil {
		return err
	}
	return os.Remove(sub)
}

func (f *AgentFlags) checkStore(ctx context.Context) finding {
	one := finding{what: "store", note: f.Address}
	if f.Print {
		one.note = "none, with --print"
		return one
	}
	store, err := f.Open()
	if err != nil {
		one.err = err
		return one
	}
	defer store.Close()
	ahead, err := store.Check(ctx)
	switch {
	case err != nil:
		one.err = err
	case ahead.Abs() > mostSkew:
		one.err = fmt.Errorf("its clock and that of this machine are %s apart", units.Duration(ahead.Abs().Round(time.Second)))
	default:
		one.note += " takes rows"
	}
	return one
}

func (f *AgentFlags) checkRecordings(ctx context.Context) finding {
	one := finding{what: "recordings", note: f.Recordings}
	if !strings.Contains(f.Recordings, "://") {
		one.err = writable(f.Recordings)
		return one
	}
	b, err := f.bucket(f.Recordings, f.StoreFlags)
	if err != nil {
		one.err = err
		return one
	}
	defer b.Close()
	file, err := os.Open(os.DevNull) // an object without bytes
	if err != nil {
		one.err = err
		return one
	}
	defer file.Close()
	one.err = b.Put(ctx, "highwater-check", file)
	one.note += " takes recordings"
	return one
}

func (f *AgentFlags) checkOutlets() finding {
	all, err := f.outlets("")
	names := []string{}
	for _, one := range all {
		names = append(names, one.Name())
	}
	if len(names) == 0 {
		names = append(names, "none")
	}
	return finding{what: "told too", err: err, note: strings.Join(names, ", ")}
}
