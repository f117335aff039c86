package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// trial runs subjects by the tool, and asks the tool what it saw.
type trial struct {
	highwater, dir string
	runs           int
	out            io.Writer
}

func build(ctx context.Context, path, pkg string) error {
	out, err := exec.CommandContext(ctx, "go", "build", "-o", path, pkg).CombinedOutput()
	if err != nil {
		return fmt.Errorf("build %s: %w: %s", pkg, err, out)
	}
	return nil
}

// measure runs a subject as it is and with each setting, and writes its table.
func (t *trial) measure(ctx context.Context, s subject, path string) (err error) {
	if err := os.MkdirAll(filepath.Join(t.dir, s.name), 0o755); err != nil {
		return err
	}
	if s.helper != nil {
		stop, err := helper(ctx, path, s.helper)
		if err != nil {
			return err
		}
		defer stop()
	}
	base, err := t.record(ctx, s, path, setting{name: "base", env: s.recordedWith()}, 0)
	if err != nil {
		return err
	}
	whole, err := t.tune(ctx, base)
	if err != nil {
		return err
	}
	if whole.Grade == "refused" {
		writeRefusal(t.out, s, whole)
		return nil
	}
	var rows []row
	for _, set := range s.settings {
		r := row{setting: set.name}
		if r.predicted, err = t.predict(ctx, base, set); err != nil {
			return err
		}
		for n := range t.runs {
			rec, err := t.record(ctx, s, path, set, n+1)
			if err != nil {
				return err
			}
			run, err := t.tune(ctx, rec)
			if err != nil {
				return err
			}
			r.measured = append(r.measured, run.Recorded)
		}
		rows = append(rows, r)
	}
	write(t.out, s, whole, rows)
	return nil
}

// helper starts what a subject needs beside it, and gives it the time to listen.
func helper(ctx context.Context, path string, args []string) (stop func(), err error) {
	c := exec.CommandContext(ctx, path, args...)
	said, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, err
	}
	b := make([]byte, 256)
	for text := ""; strings.Count(text, "\n") < 2; {
		n, err := said.Read(b)
		if err != nil {
			c.Wait()
			return nil, fmt.Errorf("it ended before it listened: %w", err)
		}
		text += string(b[:n])
	}
	return func() {
		c.Process.Kill()
		c.Wait()
	}, nil
}

// record runs a subject under the tool's eyes, unless that was done before.
func (t *trial) record(ctx context.Context, s subject, path string, set setting, n int) (string, error) {
	name := strings.NewReplacer(" ", "_", "/", "_", "(", "", ")", "").Replace(set.name)
	if n > 0 {
		name += fmt.Sprintf(".%d", n)
	}
	file := filepath.Join(t.dir, s.name, name+".hwm")
	if _, err := os.Stat(file); err == nil {
		return file, nil
	}
	fmt.Fprintf(os.Stderr, "%s %s %s, run %d\n", time.Now().Format("15:04:05"), s.name, set.name, n)
	making := strings.TrimSuffix(file, ".hwm") + ".making.hwm"
	os.Remove(making)
	if err := t.make(ctx, s, path, set, making); err != nil {
		os.Remove(making)
		return "", err
	}
	return file, os.Rename(making, file)
}

// make makes one recording, in a folder that is new.
func (t *trial) make(ctx context.Context, s subject, path string, set setting, file string) error {
	dir, err := os.MkdirTemp(t.dir, "run-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	filled := strings.NewReplacer("{bin}", filepath.Dir(path), "{dir}", dir)
	if s.before != "" {
		if out, err := exec.CommandContext(ctx, "sh", "-c", filled.Replace(s.before)).CombinedOutput(); err != nil {
			return fmt.Errorf("before the run: %w: %s", err, out)
		}
	}
	args := []string{"run", "-q", "-o", file}
	if s.load != "" {
		args = append(args, "--ready", s.ready, "--load", filled.Replace(s.load))
	}
	args = append(args, "--", path)
	for _, a := range append(s.args[:len(s.args):len(s.args)], set.args...) {
		args = append(args, filled.Replace(a))
	}
	c := exec.CommandContext(ctx, t.highwater, args...)
	c.Env = append(os.Environ(), set.env...)
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("run: %w: %s", err, out)
	}
	return nil
}

// answer is what of highwater.tune/1 is needed here.
type answer struct {
	Program   string      `json:"program"`
	GoVersion string      `json:"go_version"`
	Grade     string      `json:"grade"`
	Why       []string    `json:"why"`
	Recorded  seen        `json:"recorded"`
	Settings  []predicted `json:"settings"`
}

type seen struct {
	Peak     float64 `json:"peak_heap_bytes"`
	Resident float64 `json:"resident_bytes"`
	GCs      float64 `json:"gcs"`
}

type predicted struct {
	GCAt     string  `json:"gc_at"`
	Peak     percent `json:"peak_heap_bytes"`
	Resident percent `json:"resident_bytes"`
	GCs      float64 `json:"gcs"`
	Cost     string  `json:"gc_cost"`
}

type percent struct{ P5, P50, P95 float64 }

// tune asks the tool; a refusal is an answer, too.
func (t *trial) tune(ctx context.Context, file string, flags ...string) (*answer, error) {
	out, err := exec.CommandContext(ctx, t.highwater, append([]string{"tune", "--json", file}, flags...)...).Output()
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 4) {
		return nil, fmt.Errorf("tune %s: %w", file, err)
	}
	a := &answer{}
	return a, json.Unmarshal(out, a)
}

// predict asks for one setting: it is the last of the answer.
func (t *trial) predict(ctx context.Context, base string, set setting) (predicted, error) {
	gogc, limit := "100", "off"
	for _, e := range set.env {
		name, value, _ := strings.Cut(e, "=")
		if name == "GOGC" {
			gogc = value
		} else {
			limit = value
		}
	}
	flags := []string{"--gogc", gogc, "--gomemlimit", limit}
	if set.gcAt != "" {
		flags = append(flags, "--gc-at", set.gcAt)
	}
	a, err := t.tune(ctx, base, flags...)
	if err != nil || len(a.Settings) == 0 {
		return predicted{}, errors.Join(err, fmt.Errorf("no prediction of %s", set.name))
	}
	return a.Settings[len(a.Settings)-1], nil
}
