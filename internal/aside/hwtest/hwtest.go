// Package hwtest holds what the tests of every room share: skips that name
// their reason, goldens, programs built once, throwaway cgroups, and a guest
// machine with cgroup version 2.
//
// It is for tests alone and never imported by the tool. Everything it keeps
// between runs lies in one directory, HIGHWATER_CACHE or highwater-test in the
// user's cache directory, which may be removed at any time.
package hwtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/eyes/cgroup"
)

// Need skips the test where something it needs is missing, with the reason
// behind "SKIP-REASON:", and adds the reason as a line to the file that
// HIGHWATER_SKIPS names. Under HIGHWATER_NO_SKIP=1 that is a failure. Under
// HIGHWATER_CHECK=1 it skips the test even where nothing is missing, see Slow.
//
//	hwtest.Need(t, hwtest.Root, hwtest.Toolchain("go1.24.13"))
func Need(t testing.TB, needs ...func() error) {
	t.Helper()
	Slow(t, "needs more than this module and the go command")
	for _, need := range needs {
		if err := need(); err != nil {
			skip(t, err)
		}
	}
}

// Slow says that the test does something that takes its time, "builds a
// program". Under HIGHWATER_CHECK=1, the fast inner loop of make check, it is skipped
// with that reason; otherwise Slow does nothing.
func Slow(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("HIGHWATER_CHECK") == "1" {
		skip(t, fmt.Errorf("%s: make check leaves it out, make test runs it", what))
	}
}

func skip(t testing.TB, reason error) {
	t.Helper()
	if os.Getenv("HIGHWATER_NO_SKIP") == "1" {
		t.Fatalf("may not be skipped here: %v", reason)
	}
	if path := os.Getenv("HIGHWATER_SKIPS"); path != "" {
		note(t, path, reason)
	}
	t.Skipf("SKIP-REASON: %v", reason)
}

// note adds the reason to a file that all test processes append to.
func note(t testing.TB, path string, reason error) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err == nil {
		_, err = fmt.Fprintf(f, "%s: %s\n", t.Name(), strings.ReplaceAll(reason.Error(), "\n", " "))
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Errorf("note why the test is skipped: %v", err)
	}
}

// Root needs the superuser.
func Root() error {
	if os.Geteuid() != 0 {
		return fmt.Errorf("needs root, runs as uid %d", os.Geteuid())
	}
	return nil
}

// Cgroup needs the right to make a memory cgroup, of either version.
func Cgroup() error {
	h, err := cgroup.Detect("/")
	if err != nil {
		return err
	}
	c, err := h.Create(cgroup.Options{Name: "probe"})
	if err != nil {
		return err
	}
	return remove(c)
}

// CgroupV1 needs the right to make a memory cgroup of version 1.
func CgroupV1() error { return cgroupVersion(1) }

// CgroupV2 needs the right to make a memory cgroup of version 2.
func CgroupV2() error { return cgroupVersion(2) }

func cgroupVersion(version int) error {
	h, err := cgroup.Detect("/")
	if err != nil {
		return err
	}
	if h.Version != version {
		return fmt.Errorf("needs memory in cgroup version %d, it is in version %d here", version, h.Version)
	}
	return Cgroup()
}

// Chromium needs a browser.
func Chromium() error {
	_, err := ChromiumPath()
	return err
}

// ChromiumPath is the browser's executable.
func ChromiumPath() (string, error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("needs chromium in PATH")
}

// CGO needs a C compiler.
func CGO() error {
	out, err := exec.Command("go", "env", "CC").Output()
	if err != nil {
		return fmt.Errorf("needs the go command: %w", err)
	}
	return Program(strings.Fields(string(out))[0])()
}

// Program needs an executable of that name in PATH.
func Program(name string) func() error {
	return func() error {
		if _, err := exec.LookPath(name); err != nil {
			return fmt.Errorf("needs the program %s: %w", name, err)
		}
		return nil
	}
}

// Toolchain needs a Go toolchain, "go1.24.13", which the go command downloads
// where it can.
func Toolchain(version string) func() error {
	return func() error {
		cmd := exec.Command("go", "version")
		cmd.Env = append(os.Environ(), "GOTOOLCHAIN="+version)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("needs Go toolchain %s: %s", version, strings.TrimSpace(string(out)))
		}
		return nil
	}
}

// cache is a directory below the one that tests keep things in.
func cache(t testing.TB, elem ...string) string {
	t.Helper()
	base, err := cacheBase()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(append([]string{base}, elem...)...)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func cacheBase() (string, error) {
	if dir := os.Getenv("HIGHWATER_CACHE"); dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := os.UserCacheDir()
	return filepath.Join(dir, "highwater-test"), err
}

// ClickHouse is the server that make setup has unpacked, and the directories of its
// libraries as LD_LIBRARY_PATH has them.
func ClickHouse() (program, libraries string, err error) {
	base, err := cacheBase()
	if err != nil {
		return "", "", err
	}
	root := filepath.Join(base, "clickhouse")
	program = filepath.Join(root, "usr", "sbin", "clickhouse-server")
	if _, err := os.Stat(program); err != nil {
		return "", "", fmt.Errorf("needs Debian's ClickHouse in the tests' cache, which make setup puts there: %w", err)
	}
	dirs, err := filepath.Glob(filepath.Join(root, "usr", "lib", "*-linux-gnu"))
	more, err2 := filepath.Glob(filepath.Join(root, "lib", "*-linux-gnu"))
	return program, strings.Join(append(dirs, more...), ":"), errors.Join(err, err2)
}

// SeaweedFS is a server that speaks S3, unpacked into the tests' cache.
func SeaweedFS() (program string, err error) {
	base, err := cacheBase()
	if err != nil {
		return "", err
	}
	program = filepath.Join(base, "seaweedfs", "weed")
	if _, err := os.Stat(program); err != nil {
		return "", fmt.Errorf("needs SeaweedFS in the tests' cache, which make matrix puts there: %w", err)
	}
	return program, nil
}

// ChDB is the directory of ClickHouse's engine as a library of Python, unpacked into the tests' cache.
func ChDB() (dir string, err error) {
	base, err := cacheBase()
	if err != nil {
		return "", err
	}
	dir = filepath.Join(base, "chdb")
	if _, err := os.Stat(filepath.Join(dir, "chdb")); err != nil {
		return "", fmt.Errorf("needs chDB in the tests' cache, which make matrix puts there: %w", err)
	}
	return dir, nil
}

// ZooKeeper is the class path of Debian's ZooKeeper, which replicated tables of ClickHouse need.
func ZooKeeper() (classPath string, err error) {
	if _, err := exec.LookPath("java"); err != nil {
		return "", fmt.Errorf("needs java: %w", err)
	}
	const jar = "/usr/share/java/zookeeper.jar"
	if _, err := os.Stat(jar); err != nil {
		return "", fmt.Errorf("needs Debian's package libzookeeper-java: %w", err)
	}
	jars, err := filepath.Glob("/usr/share/java/*.jar")
	return strings.Join(append([]string{jar}, jars...), ":"), err
}
