package watch

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/eyes/faultprofile"
	"github.com/highwater-go/highwater/internal/record/capture"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// grownSink keeps what made resident memory grow, too.
type grownSink struct {
	kept
	growth []sample.ResidentGrowth
}

func (k *grownSink) Growth(g []sample.ResidentGrowth) error {
	k.growth = append(k.growth, g...) // the slice is used again
	return nil
}

// profiler is one with that many faults to a sample; the test is skipped where there is no right
// to have one.
func profiler(t testing.TB, period uint64) *faultprofile.Profiler {
	t.Helper()
	var p *faultprofile.Profiler
	hwtest.Need(t, func() (err error) {
		p, err = faultprofile.New(period)
		return err
	})
	t.Cleanup(func() { p.Close() })
	return p
}

// grow runs the program of known growth and gives what was seen, and what its lines took by
// its own count.
func grow(t *testing.T, p *faultprofile.Profiler, path string, args ...string) (k *grownSink, truth map[string]int64) {
	t.Helper()
	return growWith(t, p, nil, path, args...)
}

// growWith is that with an environment.
func growWith(t *testing.T, p *faultprofile.Profiler, env []string, path string, args ...string) (k *grownSink, truth map[string]int64) {
	t.Helper()
	hwtest.Need(t, hwtest.Ptrace)
	source, err := New(Options{HeapProfile: true, Faults: p})
	if err != nil {
		t.Fatal(err)
	}
	k = &grownSink{}
	return k, recorded(t, source, k, env, path, args)
}

// recorded runs a program that says what its lines took, from its start to its end, and closes the source.
func recorded(t *testing.T, source *Source, sink capture.Sink, env []string, path string, args []string) (truth map[string]int64) {
	t.Helper()
	defer source.Close()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	_, err = source.Start(Command{Path: path, Args: append([]string{path}, args...), Env: env, Files: []*os.File{null, w, os.Stderr}, OwnGroup: true})
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := (&capture.Loop{Source: source, Sink: sink}).Run(ctx); err != nil || ctx.Err() != nil {
		t.Fatal(errors.Join(err, ctx.Err(), source.Kill()))
	}
	return taken(t, r)
}

func taken(t *testing.T, r io.Reader) map[string]int64 {
	t.Helper()
	truth := map[string]int64{}
	for lines := bufio.NewScanner(r); lines.Scan(); {
		name, n, _ := strings.Cut(lines.Text(), " ")
		v, err := strconv.ParseInt(n, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		if v > 0 {
			truth[name] = v
		}
	}
	return truth
}

// places are the marked lines of the program.
func places(t *testing.T, path string) map[int]string {
	t.Helper()
	out, err := exec.Command(path, "-truth").Output()
	if err != nil {
		t.Fatal(err)
	}
	var told struct{ Places map[string]struct{ Line int } }
	if err := json.Unmarshal(out, &told); err != nil {
		t.Fatal(err)
	}
	at := map[int]string{}
	for name, p := range told.Places {
		at[p.Line] = name
	}
	return at
}

// byLine is the bytes by the innermost line of the program's own file.
func byLine(growth []sample.ResidentGrowth, at map[int]string) (lines map[string]int64, all int64) {
	lines = map[string]int64{}
	for _, g := range growth {
		if g.Kind == sample.ResidentFile || g.Kind == sample.ResidentRuntime {
			continue
		}
		name := placeOf(g.Where, at)
		lines[name] += int64(g.Bytes)
		all += int64(g.Bytes)
	}
	return lines, all
}

func placeOf(where []sample.Location, at map[int]string) string {
	for _, l := range where {
		for _, f := range l.Frames {
			if strings.HasSuffix(f.File, "resident/main.go") && at[f.Line] != "" {
				return at[f.Line]
			}
		}
	}
	return ""
}

// right is the share of the true bytes that were found at their line: no line counts for more
// than it took.
func right(found, truth map[string]int64) float64 {
	var hit, all int64
	for name, n := range truth {
		hit += min(n, found[name])
		all += n
	}
	return float64(hit) / float64(all)
}
