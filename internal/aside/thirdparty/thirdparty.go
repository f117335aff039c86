// Package thirdparty drives servers that nobody here wrote, built from their
// public modules: how to build and start each, a load that a small memory limit
// does not survive, and the line that is to blame. It is for tests, not for the
// tool.
//
// Loads speak each server's own protocol in as few lines as they need, on
// loopback only, and are bounded: a server without a limit lives through them.
package thirdparty

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Server is one program, and what is known of it.
type Server struct {
	Name    string
	Module  string // of its main package
	Version string
	Package string // the main package's path
	// Args is its command line: it keeps its files under dir and listens on the
	// port of 127.0.0.1.
	Args func(dir string, port int) []string
	// Profiling makes a server on the port serve net/http/pprof, on that port or
	// the other: its arguments, and the port it chose. It is for tests of Truth.
	Profiling func(port, other int) (args []string, chosen int)
	// Load drives the server at address, "127.0.0.1:PORT", until it dies or the
	// load is over. A server that goes away is an error.
	Load  func(ctx context.Context, address string, o Load) error
	Truth Truth
}

// Load bounds a load; the zero value is the one that 256 MiB do not survive.
type Load struct {
	// Small is a load that the limit survives, for tests of the driver itself.
	Small bool
	// Log gets a line for each step; nil: none.
	Log func(format string, args ...any)
}

func (o Load) logf(format string, args ...any) {
	if o.Log != nil {
		o.Log(format, args...)
	}
}

// Truth is what is true of the server under Load and a limit of 256 MiB.
type Truth struct {
	Class    string // of the verdict
	Function string // that allocates what is held, as the linker names it
	// Module and FileSuffix say where it stands: FileSuffix is the file's path
	// inside Module, and ends the path that the compiler recorded.
	Module, FileSuffix string
	// Marker is text of the line to blame, once in its file.
	Marker string
}

// All are the servers.
func All() []Server { return []Server{NATS(), Etcd()} }

// ByName finds a server; false: there is none of that name.
func ByName(name string) (Server, bool) {
	for _, s := range All() {
		if s.Name == name {
			return s, true
		}
	}
	return Server{}, false
}

// Build compiles the server in a throwaway module under dir and returns the
// executable's path. It needs the module proxy, or the modules in the cache;
// the first build takes half a minute on two cores.
func (s Server) Build(ctx context.Context, dir string) (string, error) {
	if err := s.prepare(ctx, dir); err != nil {
		return "", err
	}
	path := filepath.Join(dir, s.Name)
	if _, err := goCommand(ctx, dir, "build", "-o", path, s.Package); err != nil {
		return "", fmt.Errorf("build %s: %w", s.Name, err)
	}
	return path, nil
}

// prepare makes the throwaway module that requires the server's.
func (s Server) prepare(ctx context.Context, dir string) error {
	gomod := filepath.Join(dir, "go.mod")
	if _, err := os.Stat(gomod); errors.Is(err, os.ErrNotExist) {
		if err := os.WriteFile(gomod, []byte("module throwaway\n\ngo 1.26.0\n"), 0o644); err != nil {
			return err
		}
	}
	if _, err := goCommand(ctx, dir, "get", s.Module+"@"+s.Version); err != nil {
		return fmt.Errorf("get %s: %w", s.Module, err)
	}
	return nil
}

// Line finds the line to blame in the source that was built in dir.
func (s Server) Line(ctx context.Context, dir string) (int, error) {
	root, err := goCommand(ctx, dir, "list", "-m", "-f", "{{.Dir}}", s.Truth.Module)
	if err != nil {
		return 0, fmt.Errorf("find %s: %w", s.Truth.Module, err)
	}
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(s.Truth.FileSuffix)))
	if err != nil {
		return 0, err
	}
	line := 0
	for i, l := range strings.Split(string(text), "\n") {
		if !strings.Contains(l, s.Truth.Marker) {
			continue
		}
		if line > 0 {
			return 0, fmt.Errorf("%q is on lines %d and %d of %s", s.Truth.Marker, line, i+1, s.Truth.FileSuffix)
		}
		line = i + 1
	}
	if line == 0 {
		return 0, fmt.Errorf("%q is not in %s", s.Truth.Marker, s.Truth.FileSuffix)
	}
	return line, nil
}

// goCommand runs the go command in dir and returns what it prints.
func goCommand(ctx context.Context, dir string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, "go", args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off", "CGO_ENABLED=0")
	var problem strings.Builder
	c.Stderr = &problem
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", args[0], err, problem.String())
	}
	return strings.TrimSpace(string(out)), nil
}

// FreePort is a port of 127.0.0.1 that was free a moment ago.
func FreePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// dial connects to a server, and waits for one that is still starting until ctx
// ends.
func dial(ctx context.Context, address string) (net.Conn, error) {
	retry := time.NewTicker(50 * time.Millisecond)
	defer retry.Stop()
	for {
		c, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err == nil {
			return c, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("connect to %s: %w", address, err)
		case <-retry.C:
		}
	}
}
