package hwtest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// BuildOptions say how a program is built. The zero value is a plain static
// build by the toolchain at hand.
type BuildOptions struct {
	Toolchain string // "go1.24.13"; "": the one that runs the tests
	PIE       bool
	Mode      string // -buildmode: "c-shared", "plugin"; both imply CGO. "": an executable
	CGO       bool
	Strip     bool // without symbol table and DWARF
	Race      bool // implies CGO
	Tags      string
	Ldflags   string
	Gcflags   string
	Env       []string // "GOEXPERIMENT=nogreenteagc", "GOARCH=arm64"
}

func (o BuildOptions) args() []string {
	args := []string{"-buildmode=exe"}
	if o.PIE {
		args[0] = "-buildmode=pie"
	}
	if o.Mode != "" {
		args[0] = "-buildmode=" + o.Mode
	}
	if o.Race {
		args = append(args, "-race")
	}
	if o.Tags != "" {
		args = append(args, "-tags="+o.Tags)
	}
	ldflags := o.Ldflags
	if o.Strip {
		ldflags = strings.TrimSpace("-s -w " + ldflags)
	}
	if ldflags != "" {
		args = append(args, "-ldflags="+ldflags)
	}
	if o.Gcflags != "" {
		args = append(args, "-gcflags="+o.Gcflags)
	}
	return args
}

func (o BuildOptions) needsCGO() bool { return o.CGO || o.Race || o.Mode != "" }

func (o BuildOptions) env() []string {
	cgo := "CGO_ENABLED=0"
	if o.needsCGO() {
		cgo = "CGO_ENABLED=1"
	}
	env := append(os.Environ(), "GOFLAGS=", cgo)
	if o.Toolchain != "" {
		env = append(env, "GOTOOLCHAIN="+o.Toolchain)
	}
	return append(env, o.Env...)
}

// builds has one entry for each program that this process has asked for.
var builds sync.Map // key string -> *build

type build struct {
	once sync.Once
	err  error
}

// Build builds the Go program in dir and gives the path of the executable, which
// lies in the cache and must not be changed. Whether it must be built anew is
// decided by the go command, so an unchanged program costs 50 ms once a process.
// It skips the test where the toolchain or the C compiler is missing, and
// under HIGHWATER_CHECK=1.
func Build(t testing.TB, dir string, o BuildOptions) string {
	t.Helper()
	dir, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	return run(t, dir, o, func(out string) *exec.Cmd {
		args := append([]string{"build", "-o", out}, o.args()...)
		cmd := exec.Command("go", append(args, ".")...)
		cmd.Dir = dir
		return cmd
	})
}

// Module builds a main package of a public module as "go install" does for its
// users, and gives the path of the executable:
//
//	hwtest.Module(t, "github.com/nats-io/nats-server/v2@v2.15.2", "", hwtest.BuildOptions{})
//
// pkg is the package's directory in the module, "" for its root. The module's
// go.mod may have no replace directive.
func Module(t testing.TB, module, pkg string, o BuildOptions) string {
	t.Helper()
	path, version, ok := strings.Cut(module, "@")
	if !ok {
		t.Fatalf("%s: the module's version is missing", module)
	}
	if pkg != "" {
		path += "/" + pkg
	}
	target := path + "@" + version
	return run(t, target, o, func(out string) *exec.Cmd {
		if isFile(out) {
			return nil // a version never changes
		}
		// go install names its output itself and GOBIN must be absolute: install
		// beside the final place, then rename.
		cmd := exec.Command("sh", "-c", `go install "$@" && mv "$GOBIN"/* "$HWTEST_OUT"`, "sh")
		cmd.Args = append(cmd.Args, append(o.args(), target)...)
		cmd.Env = []string{"GOBIN=" + t.TempDir(), "HWTEST_OUT=" + out}
		cmd.Dir = t.TempDir()
		return cmd
	})
}

// run runs the build of a target once for this process, under a lock that other
// test processes take as well. command may be nil: there is nothing to do.
func run(t testing.TB, target string, o BuildOptions, command func(out string) *exec.Cmd) string {
	t.Helper()
	Slow(t, "builds a program")
	if o.Toolchain != "" {
		Need(t, Toolchain(o.Toolchain))
	}
	if o.needsCGO() {
		Need(t, CGO)
	}
	sum := sha256.Sum256(fmt.Append(nil, target, o))
	key := hex.EncodeToString(sum[:8])
	dir := cache(t, "build", key)
	out := filepath.Join(dir, outputName(target))
	b, _ := builds.LoadOrStore(key, new(build))
	b.(*build).once.Do(func() {
		b.(*build).err = locked(filepath.Join(dir, "lock"), func() error { return runGo(command(out), o) })
	})
	if err := b.(*build).err; err != nil {
		t.Fatalf("build %s: %v", target, err)
	}
	return out
}

func runGo(cmd *exec.Cmd, o BuildOptions) error {
	if cmd == nil {
		return nil
	}
	cmd.Env = append(o.env(), cmd.Env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// outputName names the executable as go build and go install would:
// "example.com/server/v2@v2.1.0" becomes "server".
func outputName(target string) string {
	target, _, _ = strings.Cut(target, "@")
	name := filepath.Base(target)
	if len(name) > 1 && name[0] == 'v' && strings.Trim(name[1:], "0123456789") == "" {
		name = filepath.Base(filepath.Dir(target))
	}
	return name
}

func isFile(path string) bool {
	s, err := os.Stat(path)
	return err == nil && s.Mode().IsRegular()
}
