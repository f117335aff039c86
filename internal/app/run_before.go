package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/record/watch"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/units"
	"github.com/highwater-go/highwater/internal/words/visible"
)

// warnings are what being traced changes for a program, said before it starts.
func warnings(path string) (lines []string) {
	name := filepath.Base(path)
	if lost := watch.PrivilegeLost(path); lost != "" {
		lines = append(lines,
			fmt.Sprintf("%s has %s, which the kernel ignores in a program that is traced: it runs without; as root, or with CAP_SYS_PTRACE, highwater leaves it that",
				name, lost))
	}
	if watch.TracesOthers(path) {
		lines = append(lines,
			fmt.Sprintf("%s traces what it starts, and a thread has one tracer: highwater leaves that to %s and records it without its state at exit", name, name))
	}
	return lines
}

// mustStart says whether the program starts in any case, recorded or not. What is asked
// for and cannot be done is refused, but not by the entrypoint of a container: nobody is
// there to be told, and the service would not run. What try and fit start to measure it
// need not.
func (p *plan) mustStart() bool {
	return !p.endWithUs && (p.Output == "" && p.limitBytes == 0 || firstProcess())
}

// freeOutput is -o; a container that is started again gives its entrypoint the same name
// as before, and the next free one is taken: shop-2.hwm.
func (p *plan) freeOutput() string {
	if p.Output == "" || !firstProcess() {
		return p.Output
	}
	name := strings.TrimSuffix(p.Output, Suffix)
	for n := 1; ; n++ {
		free := name
		if n > 1 {
			free = fmt.Sprintf("%s-%d", name, n)
		}
		if _, err := os.Lstat(free + Suffix); errors.Is(err, fs.ErrNotExist) || n > 1000 {
			return free + Suffix
		}
	}
}

// elsewhere are the directories that take a recording which cannot be written where it
// should be; the last is memory.
func elsewhere() []string { return []string{os.TempDir(), memoryDir} }

// open makes the recording, before anything is started. Where it cannot be written and
// the program must start, it is made elsewhere.
func (r *session) open() error {
	err := r.notThere
	if err == nil {
		err = r.create()
	}
	for r.Output == "" && errors.Is(err, fs.ErrExist) { // another run took the name meanwhile
		if err = r.chooseRecording(); err == nil {
			err = r.create()
		}
	}
	if err == nil || !r.mustStart() {
		return err
	}
	r.notThere = err
	for _, place := range elsewhere() {
		dir, failed := os.MkdirTemp(place, "highwater-")
		if failed != nil {
			continue
		}
		r.recording, r.inMemory = filepath.Join(dir, fileName(filepath.Base(r.args[0]))+"-1"+Suffix), place == memoryDir
		if failed = r.create(); failed == nil {
			return nil
		}
		os.Remove(dir)
	}
	return err
}

// create makes the recording where it is to go.
func (r *session) create() error {
	w, err := recording.Create(r.recording, r.meta())
	if err != nil {
		return cannotRecord(err)
	}
	r.writer, r.path = w, r.recording
	if r.inMemory {
		r.Rate = min(r.Rate, memoryRate)
		return w.Bound(memoryBound())
	}
	return nil
}

// memoryDir is a file system in memory that Linux has, and engines give to containers,
// those with a read-only root too: what it holds counts against the container's limit.
const memoryDir = "/dev/shm"

// A recording in memory is bounded: to a part of what is free, and to what some hours
// take at a lower rate.
const (
	memoryRate  = 2
	memoryShare = 16
	leastMemory = 2 * sample.MiB
	mostMemory  = 16 * sample.MiB
)

func memoryBound() sample.Bytes {
	return min(max(availableMemory()/memoryShare, leastMemory), mostMemory)
}

// sayElsewhere says in one line that the recording is not where it should be.
func (r *session) sayElsewhere() {
	switch {
	case r.notThere == nil:
	case r.inMemory:
		r.status.say("highwater: the recording is in memory, at %s, up to %s: %v", r.recording, units.Limit(memoryBound()), r.notThere)
	default:
		r.status.say("highwater: the recording goes to %s: %v", r.recording, r.notThere)
	}
}

// unwatched runs the program as a shell would, where it must start and cannot be
// watched.
func (r *session) unwatched(s *Streams, why error) (code int, err error) {
	r.writer, r.notThere = nil, why
	signal.Stop(r.signals)
	var ended *ExitError
	if err := r.unrecorded(s); !errors.As(err, &ended) || ended.Err != nil {
		return 0, err
	}
	return ended.Code, nil
}

// unrecorded runs the program as a shell would, where no recording can be written.
func (p *plan) unrecorded(s *Streams) error {
	visible.Fprintf(s.Err, "highwater: %s runs unwatched: %v\n", filepath.Base(p.args[0]), p.notThere)
	cmd := exec.Command(p.program, p.args[1:]...)
	cmd.Args[0], cmd.Dir, cmd.Env = p.args[0], p.dir, append(os.Environ(), p.env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = s.in, p.programOutput(s), s.Err
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, forwarded()...)
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		return cannotRun(p.args[0], err)
	}
	defer reapOrphans(func() int { return cmd.Process.Pid })()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case sig := <-signals:
			_ = cmd.Process.Signal(sig) // it may have ended
		case <-ended:
			return ExitWith(exitCodeOf(cmd.ProcessState))
		}
	}
}
