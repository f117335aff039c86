package thirdparty

import (
	"context"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
)

// The truth of a server is checked against what the server says itself: its own
// profile must hold the line, with a fair part of all that was allocated.
func TestTheServersOwnProfileNamesTheLineToBlame(t *testing.T) {
	if testing.Short() {
		t.Skip("builds servers from public modules")
	}
	hwtest.LeftToMatrix(t, "asks servers for their own profiles: that tests what Highwater is compared with, and not Highwater")
	for _, s := range All() {
		t.Run(s.Name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
			defer cancel()
			dir := t.TempDir()
			program, err := s.Build(ctx, dir)
			if err != nil {
				t.Fatal(err)
			}
			line, err := s.Line(ctx, dir)
			if err != nil {
				t.Fatal(err)
			}
			port := freePort(t)
			profiling, profilePort := s.Profiling(port, freePort(t))
			start(t, program, append(s.Args(filepath.Join(dir, "data"), port), profiling...))
			loading, stop := context.WithTimeout(ctx, 2*time.Minute)
			defer stop()
			if err := s.Load(loading, fmt.Sprintf("127.0.0.1:%d", port), Load{Small: true, Log: t.Logf}); err != nil {
				t.Fatal(err)
			}
			p := fetch(t, ctx, fmt.Sprintf("http://127.0.0.1:%d/debug/pprof/heap", profilePort))
			if share := allocated(p, s.Truth, line); share < 0.15 { // of few samples
				t.Errorf("%s, line %d of %s, allocated %.0f%% of all bytes", s.Truth.Function, line, s.Truth.FileSuffix, 100*share)
			}
		})
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	port, err := FreePort()
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// start runs the program until the test ends.
func start(t *testing.T, program string, args []string) {
	t.Helper()
	c := exec.Command(program, args...)
	var said strings.Builder
	c.Stdout, c.Stderr = &said, &said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Process.Signal(syscall.SIGKILL)
		c.Wait()
		if t.Failed() {
			t.Logf("the server said:\n%s", said.String())
		}
	})
}

func fetch(t *testing.T, ctx context.Context, url string) *profile.Profile {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	p, err := profile.Parse(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// allocated is the share of all allocated bytes whose stacks hold the line.
func allocated(p *profile.Profile, truth Truth, line int) float64 {
	const allocSpace = 1 // alloc_objects, alloc_space, inuse_objects, inuse_space
	var all, through int64
	for _, s := range p.Sample {
		all += s.Value[allocSpace]
		if holds(s, truth, line) {
			through += s.Value[allocSpace]
		}
	}
	return float64(through) / float64(max(all, 1))
}

func holds(s *profile.Sample, truth Truth, line int) bool {
	for _, location := range s.Location {
		for _, l := range location.Line {
			f := l.Function
			if f.Name == truth.Function && strings.HasSuffix(f.Filename, truth.FileSuffix) && l.Line == int64(line) {
				return true
			}
		}
	}
	return false
}

func TestALineThatMovedIsAnError(t *testing.T) {
	if testing.Short() {
		t.Skip("fetches a public module")
	}
	s, dir := NATS(), t.TempDir()
	if err := s.prepare(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	for _, marker := range []string{"no such line in any version", "return"} {
		s.Truth.Marker = marker
		if line, err := s.Line(t.Context(), dir); err == nil {
			t.Errorf("%q is found on line %d", marker, line)
		}
	}
}

func TestProtobufFieldsAreWrittenAsTheWireWants(t *testing.T) {
	for _, c := range []struct {
		size int
		want string // tag and length
	}{{0, "\x12\x00"}, {127, "\x12\x7f"}, {128, "\x12\x80\x01"}, {1 << 20, "\x12\x80\x80\x40"}} {
		got := field(nil, 2, make([]byte, c.size))
		if len(got) != len(c.want)+c.size || string(got[:len(c.want)]) != c.want {
			t.Errorf("%d bytes: %d bytes that begin with %x, want %x", c.size, len(got), got[:min(4, len(got))], c.want)
		}
	}
}
