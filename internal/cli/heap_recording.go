package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/highwater-go/highwater/internal/explain"
	"github.com/highwater-go/highwater/internal/recording"
	"github.com/highwater-go/highwater/internal/regular"
	"github.com/highwater-go/highwater/internal/sample"
	"github.com/highwater-go/highwater/internal/units"
	"github.com/highwater-go/highwater/internal/visible"
)

// recordingOf is the recording that an argument means, "" for a process or a core
// file.
func (f *heapFlags) recordingOf(arg string) (string, error) {
	if pid, err := strconv.Atoi(arg); err == nil && pid > 0 {
		return "", f.notOfRecording()
	}
	if file, err := regular.Open(arg); err == nil {
		defer file.Close()
		if core, err := isCore(file); err == nil && core {
			return "", f.notOfRecording()
		}
	}
	moment := explainFlags{at: f.at}
	path, err := findRecording(moment.splitMoment([]string{arg}))
	f.at = moment.at
	return path, err
}

func (f *heapFlags) notOfRecording() error {
	if f.at != "" || f.since != "" {
		return usagef("highwater heap RECORDING --at peak", "--at and --since need a recording: a process or a core has only one moment")
	}
	return nil
}

// fromRecording prints what was captured of a heap.
func (f heapFlags) fromRecording(s *streams, path string) error {
	if f.path != "" {
		return usagef("highwater heap PID --path ADDRESS asks the program, or its core", "--path: a recording keeps no addresses of objects")
	}
	r, err := recording.Open(path)
	if err != nil {
		return recordingError(err)
	}
	defer r.Close()
	defer tellDamage(s, r, path)
	if f.since != "" {
		return f.growth(s, r, path)
	}
	c, err := explain.ChooseHeap(r, f.at)
	if err != nil {
		return heapMomentError(r, err, path)
	}
	if f.typ != "" {
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
			if strings.HasPrefix(g.What, heldGap) {
				return &exitError{code: exitInconclusive, err: fmt.Errorf("%s has no capture of a heap; %s, is not known: %s", shortName(path), g.What, g.Why),
					hint: "highwater heap PID asks a program that runs; highwater explain " + typed(path) + " says who allocated"}
			}
		}
		return usagef("highwater run --heap kill -- PROGRAM, or watch --heap every=1m, captures it; highwater explain "+typed(path)+" says who allocated",
			"%s has no capture of a heap", shortName(path))
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
func (f heapFlags) printTypeOf(s *streams, c *sample.HeapCapture) error {
	found := false
	for i := range c.Paths {
		if p := &c.Paths[i]; p.Type == f.typ && p.Objects > 0 {
			found = true
			visible.Fprintf(s.out, "  %10s  %8s objects  %s\n", units.Size(p.Bytes), count(p.Objects), short(c.Path(i), 80))
		}
	}
	if !found {
		return &exitError{code: exitInconclusive, err: fmt.Errorf("no large holder of objects of type %s was kept", f.typ), hint: "highwater heap --json lists the types"}
	}
	return nil
}
