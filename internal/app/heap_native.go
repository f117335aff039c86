package app

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/show/report"
)

// mostNativeLines bounds the lines that heap --native prints.
const mostNativeLines = 25

// nativeLive prints C's live blocks by line, of a recording or of a process that is being recorded.
func (f HeapFlags) nativeLive(s *Streams, arg string) error {
	if f.Path != "" || f.Typ != "" || f.Strings || f.Since != "" {
		return Usagef("highwater heap "+arg+" --native", "--native goes with --at and --json alone: C's blocks have no types and no paths")
	}
	pid, path, err := 0, "", error(nil)
	if isPID(arg) {
		pid, _ = strconv.Atoi(arg) // it is one
		path, err = recordingNow(pid)
	} else {
		path, err = f.recordingOf(arg)
	}
	if err != nil {
		return err
	}
	if path == "" {
		return Usagef("highwater heap RECORDING --native", "--native: a core does not say who asked for C's blocks")
	}
	r, err := recording.Open(path)
	if err != nil {
		return recordingError(err)
	}
	defer r.Close()
	defer tellDamage(s, r, path)
	at := f.At
	if pid != 0 && at == "" {
		at = "last"
	}
	e, err := explain.LoadOf(r, path, at, pid)
	if err != nil {
		return momentError(err, path)
	}
	live := explain.NativeLiveOf(e, mostNativeLines)
	if live == nil {
		return &ExitError{Code: ExitInconclusive, Err: fmt.Errorf("%s does not say who holds C's blocks: its calls of malloc and free were not followed, or not yet",
			ShortName(path)),
			Hint: "highwater run --native=live -- PROGRAM, or watch --native=live PID, follows them; highwater explain " + typed(path) + " says what is known"}
	}
	ans := &report.NativeHeap{Recording: ShortName(path), Program: nameOf(r, e.Subject), PID: e.Subject.PID, Running: r.Live(), At: e.Seconds(e.Moment.At),
		NativeLive: live}
	if f.JSON {
		return ans.JSON(s.Out)
	}
	o := s.look().With("highwater explain " + typed(path) + "      highwater export --native " + typed(path) + " -o native.pb.gz")
	o.Source = ExplainFlags{}.sourceLines(path)
	return ans.Text(s.page(), o)
}

// recordingNow is the newest recording that is being made of a process.
func recordingNow(pid int) (string, error) {
	all, err := StoredRecordings()
	if err != nil {
		return "", err
	}
	const looked = 64 // the newest are first
	for _, one := range all[:min(looked, len(all))] {
		if records(one.Path, pid) {
			return one.Path, nil
		}
	}
	if _, err := procfs.Name("/proc", pid); err != nil {
		return "", Usagef("highwater heap RECORDING --native", "there is no process %d", pid)
	}
	if path := recordingOfTracer(pid); path != "" {
		return path, nil
	}
	return "", Usagef(fmt.Sprintf("highwater watch --native=live %d, and then this again; where -o names the recording: highwater heap FILE --native", pid),
		"no recording of process %d is being made, and who asked for C's blocks is known only of calls that were followed", pid)
}

// records says whether a recording is being made, and of this process.
func records(path string, pid int) bool {
	r, err := recording.Open(path)
	if err != nil {
		return false
	}
	defer r.Close()
	if !r.Live() {
		return false
	}
	programs, err := r.Programs()
	if err != nil {
		return false
	}
	for _, p := range programs {
		if p.Key.PID == pid {
			return true
		}
	}
	return false
}

// recordingOfTracer is the recording of a process that its tracer has open, wherever -o put it; "": none.
func recordingOfTracer(pid int) string {
	tracer, err := procfs.TracerOf("/proc", pid)
	if err != nil || tracer == 0 {
		return ""
	}
	dir := fmt.Sprintf("/proc/%d/fd", tracer)
	list, err := os.ReadDir(dir)
	if err != nil {
		return "" // another user's
	}
	for _, fd := range list {
		if path, err := os.Readlink(filepath.Join(dir, fd.Name())); err == nil && strings.HasSuffix(path, Suffix) && records(path, pid) {
			return path
		}
	}
	return ""
}
