package hwtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// Containers needs podman with runc, and root, which may run containers without a
// registry, a network or a daemon.
func Containers() error {
	return errors.Join(Root(), Cgroup(), Program("podman")(), Program("runc")(), Program("conmon")())
}

// Engine runs containers of one image, made of static programs. Its storage is its own,
// and lies in a temporary directory.
type Engine struct {
	dir  string
	once sync.Once
	err  error
}

const image = "localhost/highwater-test"

// podmanTakes bounds one command of podman. No container here runs for so long.
const podmanTakes = 4 * time.Minute

// Setup makes the storage and the image once: files are programs by their path in it. It
// skips the test like Need(t, Containers).
func (e *Engine) Setup(t testing.TB, files map[string]string) {
	t.Helper()
	Need(t, Containers)
	e.once.Do(func() { e.err = e.setup(files) })
	if e.err != nil {
		t.Fatalf("make the containers' image: %v", e.err)
	}
}

func (e *Engine) setup(files map[string]string) (err error) {
	if e.dir, err = os.MkdirTemp("", "highwater-containers-"); err != nil {
		return err
	}
	root := filepath.Join(e.dir, "image")
	for _, dir := range []string{"tmp", "out", "proc", "sys", "dev", "etc"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			return err
		}
	}
	for to, from := range files {
		b, err := os.ReadFile(from)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(filepath.Join(root, to)), 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(root, to), b, 0o755)
		}
		if err != nil {
			return err
		}
	}
	if err := os.Chmod(filepath.Join(root, "tmp"), os.ModeSticky|0o777); err != nil {
		return err
	}
	archive := filepath.Join(e.dir, "image.tar")
	if out, err := exec.Command("tar", "-C", root, "-cf", archive, ".").CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	out, err := e.Command("import", archive, image).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// Command is podman with storage that copies the image: its pages are in memory then and
// charged to podman. Under overlay those of highwater's executable are charged to the
// container, and one that is read in the milliseconds in which a killed program's memory is
// freed has highwater killed too, where it does not hold that program (docs/containers.md).
//
// It is podman with the storage of this Engine.
//
// After podmanTakes it is killed, and its error is context.DeadlineExceeded.
func (e *Engine) Command(args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(context.Background(), podmanTakes)
	context.AfterFunc(ctx, cancel)
	cmd := exec.CommandContext(ctx, "podman", append([]string{
		"--root", filepath.Join(e.dir, "storage"), "--runroot", filepath.Join(e.dir, "run"), "--tmpdir", filepath.Join(e.dir, "tmp"),
		"--storage-driver", "vfs", "--cgroup-manager", "cgroupfs", "--runtime", "runc", "--events-backend", "file",
	}, args...)...)
	cmd.WaitDelay = 10 * time.Second // what it started may have its output still
	cmd.Dir = e.dir                  // conmon leaves a file there at an OOM kill
	return cmd
}

// Conf makes the configuration files with which podman as a user types it has the storage
// of this Engine, its image as "shop", and what Run sets.
func (e *Engine) Conf(t testing.TB) (containers, storage string) {
	t.Helper()
	containers, storage = filepath.Join(e.dir, "containers.conf"), filepath.Join(e.dir, "storage.conf")
	for path, text := range map[string]string{
		containers: "[containers]\nnetns = \"none\"\ndefault_ulimits = [\"nofile=1024:1024\", \"nproc=1000:1000\"]\n" +
			"[engine]\nruntime = \"runc\"\ncgroup_manager = \"cgroupfs\"\nevents_logger = \"file\"\ntmp_dir = \"" + filepath.Join(e.dir, "tmp") + "\"\n",
		storage: "[storage]\ndriver = \"vfs\"\ngraphroot = \"" + filepath.Join(e.dir, "storage") + "\"\nrunroot = \"" + filepath.Join(e.dir, "run") + "\"\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := e.Command("tag", image, "shop").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return containers, storage
}

// Run is the command that runs a container of the image: options of podman run, and
// behind "--" the command in it. Limits on descriptors are ours: more needs a right that
// root may not have.
func (e *Engine) Run(options []string, command ...string) *exec.Cmd {
	args := append([]string{"run", "--network", "none", "--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1000:1000"}, options...)
	return e.Command(append(append(args, image), command...)...)
}

// Start runs a container in the background until the test ends, and gives its id.
func (e *Engine) Start(t testing.TB, options []string, command ...string) (id string) {
	t.Helper()
	var errs strings.Builder
	cmd := e.Run(append([]string{"-d"}, options...), command...)
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("start a container: %v: %s", err, errs.String())
	}
	id = strings.TrimSpace(string(out))
	t.Cleanup(func() { _ = e.Command("rm", "-f", "-t", "0", id).Run() })
	return id
}

// RunToEnd runs a container of the image, removes it, and gives its exit code and what it wrote on both streams. It does
// without --rm, so that only one command removes a container, and not podman and the cleanup that conmon starts.
func (e *Engine) RunToEnd(t testing.TB, options []string, command ...string) (code int, out string) {
	t.Helper()
	id := filepath.Join(t.TempDir(), "id")
	var both strings.Builder
	cmd := e.Run(append([]string{"--cidfile", id}, options...), command...)
	cmd.Stdout, cmd.Stderr = &both, &both
	err := cmd.Run()
	if errors.Is(err, context.DeadlineExceeded) || cmd.ProcessState == nil {
		t.Fatalf("podman run: %v: %s", err, both.String())
	}
	_ = e.Command("rm", "-f", "-t", "0", "--cidfile", id).Run() // what is left Remove removes
	return cmd.ProcessState.ExitCode(), both.String()
}

// Remove ends and removes all containers, the image and the storage.
func (e *Engine) Remove() error {
	if e.dir == "" {
		return nil
	}
	err := e.Command("rm", "-fa", "-t", "0").Run()
	return errors.Join(err, e.Command("rmi", "-fa").Run(), os.RemoveAll(e.dir))
}
