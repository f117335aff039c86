package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/highwater-go/highwater/cases/internal/symptom"
	"github.com/highwater-go/highwater/cases/internal/truthfile"
)

// question is one run with what a right answer to it says.
type question struct {
	of     string // the case
	fault  *truthfile.Fault
	number int    // of the run, from 1
	flag   string // what -fault takes
	run    truthfile.Run
	want   truthfile.Verdict
}

// questions are the runs of a truth, each with its fault and repaired.
func questions(t *truthfile.Truth, only string) []question {
	var all []question
	for i := range t.Faults {
		f := &t.Faults[i]
		if only != "" && only != f.Name {
			continue
		}
		for n, r := range f.Runs {
			if r.Faulty != nil {
				all = append(all, question{t.Case, f, n + 1, f.Name, r, *r.Faulty})
			}
			all = append(all, question{t.Case, f, n + 1, "none", r, r.Repaired})
		}
	}
	return all
}

// answer is what the judge reads of `highwater explain --json`.
type answer struct {
	Outcome struct {
		State   string  `json:"state"`
		By      string  `json:"by"`
		Peak    uint64  `json:"peak_bytes"`
		Elapsed float64 `json:"elapsed_seconds"`
	} `json:"outcome"`
	Verdict struct {
		Class      string   `json:"class"`
		Sentence   string   `json:"sentence"`
		Confidence string   `json:"confidence"`
		Culprit    *culprit `json:"culprit"`
	} `json:"verdict"`
	Ledger struct {
		Total       uint64 `json:"total_bytes"`
		Unexplained int64  `json:"unexplained_bytes"`
	} `json:"ledger"`
}

type culprit struct {
	Function string `json:"function"`
	File     string `json:"file"`
	Line     int    `json:"line"`
}

// ask does the run under highwater and lets it explain what it saw.
func (b *bench) ask(ctx context.Context, q question) (*judgement, error) {
	dir, err := os.MkdirTemp(b.dir, "run-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	r, err := q.run.Expand(&truthfile.Values{Programs: b.dir, Dir: dir, Fault: q.flag, Address: symptom.FreeAddress})
	if err != nil {
		return nil, err
	}
	if r.Before != "" {
		words := strings.Fields(r.Before)
		if out, err := exec.CommandContext(ctx, words[0], words[1:]...).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%s: %w\n%s", r.Before, err, out)
		}
	}
	if r.Cold {
		if r.Command, err = cold(r.Command, dir); err != nil {
			return nil, err
		}
	}
	stop, err := beside(ctx, r)
	if err != nil {
		return nil, err
	}
	defer stop()
	recording := filepath.Join(dir, "run.hwm")
	if b.keep != "" {
		recording = filepath.Join(b.keep, fmt.Sprintf("%s-%s-%d-%s-%d.hwm", q.of, q.fault.Name, q.number, q.flag, time.Now().UnixNano()%1e6))
	}
	began := time.Now()
	out, err := exec.CommandContext(ctx, b.tool, arguments(r, recording)...).CombinedOutput()
	took := time.Since(began)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return nil, err
	}
	j, err := b.explain(ctx, q, recording, took)
	if err != nil {
		return nil, fmt.Errorf("%w\nthe run said:\n%s", err, out)
	}
	return j, nil
}

// explain judges what is said of a recording. The code of explain is 4 where it is
// inconclusive: what counts is what it says.
func (b *bench) explain(ctx context.Context, q question, recording string, took time.Duration) (*judgement, error) {
	j := &judgement{question: q, took: took}
	explained, failed := exec.CommandContext(ctx, b.tool, "explain", "--json", recording).Output()
	if err := json.Unmarshal(explained, &j.answer); err != nil {
		return nil, fmt.Errorf("explain: %w", errors.Join(failed, err))
	}
	return j, j.read(ctx, b.tool, recording)
}

// again judges the recordings that an earlier run kept, by their names.
func (b *bench) again(ctx context.Context, q question) (all []*judgement, err error) {
	kept, err := filepath.Glob(filepath.Join(b.kept, fmt.Sprintf("%s-%s-%d-%s-*.hwm", q.of, q.fault.Name, q.number, q.flag)))
	if err != nil {
		return nil, err
	}
	for _, recording := range kept {
		j, err := b.explain(ctx, q, recording, 0)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", recording, err)
		}
		j.took = time.Duration(j.Outcome.Elapsed * float64(time.Second))
		all = append(all, j)
		j.print()
	}
	return all, nil
}

// read takes the answer as people get it, which must be short enough to be read.
func (j *judgement) read(ctx context.Context, tool, recording string) error {
	text, err := exec.CommandContext(ctx, tool, "explain", recording).Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return err
	}
	j.text = string(text)
	return nil
}

// cold is the command with a copy of its program that is on disk only.
func cold(command, dir string) (string, error) {
	program, rest, _ := strings.Cut(command, " ")
	to := filepath.Join(dir, "cold")
	if err := os.Mkdir(to, 0o755); err != nil {
		return "", err
	}
	to = filepath.Join(to, filepath.Base(program))
	return to + " " + rest, symptom.ColdCopy(to, program)
}

// arguments are those of `highwater run` for one run. A program that is still
// there after its time is stopped.
func arguments(r truthfile.Run, recording string) []string {
	args := []string{"run", "-q", "-o", recording, "--for", strconv.Itoa(r.Seconds) + "s"}
	if r.Limit > 0 {
		args = append(args, "--limit", strconv.FormatUint(r.Limit, 10))
	}
	if r.Ready != "" {
		args = append(args, "--ready", r.Ready)
	}
	if r.Load != "" {
		args = append(args, "--load", r.Load)
	}
	return append(append(args, "--"), strings.Fields(r.Command)...)
}

// beside starts what runs beside the program, and outside of its limit.
func beside(ctx context.Context, r truthfile.Run) (stop func(), err error) {
	if r.Beside == "" {
		return func() {}, nil
	}
	words := strings.Fields(r.Beside)
	c := exec.CommandContext(ctx, words[0], words[1:]...)
	if err := c.Start(); err != nil {
		return nil, err
	}
	stop = func() { c.Process.Signal(syscall.SIGTERM); c.Wait() }
	if err := symptom.WaitFor(ctx, r.BesideReady); err != nil {
		stop()
		return nil, err
	}
	return stop, nil
}
