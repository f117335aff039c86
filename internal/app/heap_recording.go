package app

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/files/regular"
	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/units"
	"github.com/highwater-go/highwater/internal/words/visible"
)

// recordingOf is the recording that an argument means, "" for a process or a core
// file.
func (f *HeapFlags) recordingOf(arg string) (string, error) {
	if isPID(arg) {
		return "", f.notOfRecording()
	}
	if file, err := regular.Open(arg); err == nil {
		defer file.Close()
		if core, err := isCore(file); err == nil && core {
			return "", f.notOfRecording()
		}
	}
	moment := ExplainFlags{At: f.At}
	path, err := FindRecording(moment.SplitMoment([]string{arg}))
	f.At = moment.At
	return path, err
}

// isPID says that an argument is the number of a process: PID_MAX_LIMIT is 4194304, 7 digits
// (proc_sys_kernel(5)), and an incident's ID has 8 or more.
func isPID(arg string) bool {
	pid, err := strconv.Atoi(arg)
	return err == nil && pid > 0 && len(arg) < 8
}

func (f *HeapFlags) notOfRecording() error {
	if f.At != "" || f.Since != "" {
		return Usagef("highwater heap RECORDING --at peak", "--at and --since need a recording: a process or a core has only one moment")
	}
	return nil
}

// fromRecording prints what was captured of a heap.
func (f HeapFlags) fromRecording(s *Streams, path string) error {
	if f.Path != "" {
		return Usagef("highwater heap PID --path ADDRESS asks the program, or its core", "--path: a recording keeps no addresses of objects")
	}
	r, err := recording.Open(path)
	if err != nil {
		return recordingError(err)
	}
	defer r.Close()
	defer tellDamage(s, r, path)
	if f.Since != "" {
		return f.growth(s, r, path)
	}
	c, err := explain.ChooseHeap(r, f.At)
	if err != nil {
		return heapMomentError(r, err, path)
	}
	if f.Typ != "" {
		return f.printTypeOf(s, c)
	}
	return f.print(s, heapAnswerOf(nameOf(r, c.Process), c))
}

// heapMomentError says why a recording has no capture of a heap: of those that failed,
// the last one's reason.
func heapMomentError(r *recording.Reader, err error, path string) error {
	if errors.Is(err, explain.ErrNoMoment) {
		gaps, _ := r.Gaps() // without them it says less
		for _, g := range slices.Backward(gaps) {
			if strings.HasPrefix(g.What, heldGap) || strings.HasPrefix(g.What, "who held ") { // of older recordings
				return &ExitError{Code: ExitInconclusive, Err: fmt.Errorf("%s has no capture of a heap; %s is not known: %s", ShortName(path), g.What, g.Why),
					Hint: "highwater heap PID asks a program that runs; highwater explain " + typed(path) + " says who allocated"}
			}
		}
		return Usagef("highwater run --heap kill -- PROGRAM, or watch --heap every=1m, captures it; highwater explain "+typed(path)+" says who allocated",
			"%s has no capture of a heap", ShortName(path))
	}
	return momentError(err, path)
}

// nameOf is what a process of the recording was called.
func nameOf(r *recording.Reader, key sample.ProcessKey) (name string) {
	programs, _ := r.Programs() // without any it has no name
	for _, p := range programs {
		if p.Key == key {
			name = p.Name
		}
	}
	return name
}

// printTypeOf prints who holds the objects of a type.
func (f HeapFlags) printTypeOf(s *Streams, c *sample.HeapCapture) error {
	found := false
	for i := range c.Paths {
		if p := &c.Paths[i]; p.Type == f.Typ && p.Objects > 0 {
			found = true
			visible.Fprintf(s.Out, "  %10s  %8s objects  %s\n", units.Size(p.Bytes), count(p.Objects), short(c.Path(i), 80))
		}
	}
	if !found {
		return &ExitError{Code: ExitInconclusive, Err: fmt.Errorf("no large holder of objects of type %s was kept", f.Typ),
			Hint: "highwater heap --json lists the types"}
	}
	return nil
}
