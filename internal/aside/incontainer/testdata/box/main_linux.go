// Box runs a command as a container engine does where memory is in cgroup version 2: as
// the first process of a PID namespace, in the cgroup of a container in that of a pod,
// with mounts of its own and /sys/fs/cgroup read-only.
//
//	box [-pod 96] [-limit 64] [-private] [-user 1000] [-read-only] COMMAND [ARGS]
//	box ... -watch host|sidecar COMMAND [ARGS] -- WATCHER [ARGS]
//
// With -watch the command shares a PID namespace with a process that does nothing, as the containers
// of a pod may, and the watcher runs too: in a container of that pod, or on the host. The code is the watcher's then.
package main

import (
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	root = "/sys/fs/cgroup"
	pod  = "kubepods/pod8a1b2c3d-0001"
	mib  = 1 << 20
)

var (
	podLimit = flag.Int("pod", 0, "MiB, 0: none")
	limit    = flag.Int("limit", 0, "MiB, 0: none")
	private  = flag.Bool("private", false, "with a cgroup namespace of its own")
	user     = flag.Int("user", 0, "the command's user")
	readOnly = flag.Bool("read-only", false, "its root is an empty read-only file system, with the host's /bin and /tmp/out, as /out")
	watch    = flag.String("watch", "", "where the watcher is: host or sidecar")
	inner    = flag.Bool("inner", false, "this is the container")
	pause    = flag.Bool("pause", false, "this is the process that does nothing")
)

func main() {
	log.SetFlags(0)
	flag.Parse()
	switch {
	case *pause:
		for {
			time.Sleep(time.Hour)
		}
	case *inner:
		log.Fatal(enter(flag.Args()))
	}
	code, err := outside()
	if err != nil {
		log.Fatal(err)
	}
	os.Exit(code)
}

// outside makes the cgroups and runs what was asked for.
func outside() (int, error) {
	group, err := container("3f4e5d6c7b8a9012", *limit)
	if err != nil {
		return 0, err
	}
	if err := os.MkdirAll("/tmp/out", 0o777); err != nil {
		return 0, err
	}
	if err := os.Chmod("/tmp/out", 0o777); err != nil { // whatever the umask
		return 0, err
	}
	if *watch == "" {
		cmd := inside(group, syscall.CLONE_NEWPID|syscall.CLONE_NEWNS, flag.Args())
		return codeOf(cmd, cmd.Run())
	}
	return watched(group)
}

// container makes the cgroup of a container in the pod's, whose limit it sets.
func container(id string, limit int) (*os.File, error) {
	dir := filepath.Join(root, pod, strings.Repeat(id, 4))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	share(root)
	share(filepath.Join(root, "kubepods"))
	share(filepath.Join(root, pod))
	for dir, n := range map[string]int{filepath.Join(root, pod): *podLimit, dir: limit} {
		text := "max"
		if n > 0 {
			text = fmt.Sprint(n * mib)
		}
		if err := os.WriteFile(filepath.Join(dir, "memory.max"), []byte(text), 0); err != nil {
			return nil, err
		}
	}
	return os.Open(dir)
}

// share hands the memory controller to the cgroups below.
func share(dir string) {
	_ = os.WriteFile(filepath.Join(dir, "cgroup.subtree_control"), []byte("+memory"), 0)
}

// inside is the command in a container with this cgroup and new namespaces.
func inside(group *os.File, namespaces uintptr, command []string) *exec.Cmd {
	args := []string{"-inner", fmt.Sprint("-private=", *private), fmt.Sprint("-read-only=", *readOnly), fmt.Sprint("-user=", *user)}
	cmd := exec.Command("/proc/self/exe", append(args, command...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: namespaces, UseCgroupFD: true, CgroupFD: int(group.Fd())}
	return cmd
}

func codeOf(cmd *exec.Cmd, err error) (int, error) {
	if exit := new(exec.ExitError); !errors.As(err, &exit) && err != nil {
		return 0, err
	}
	return cmd.ProcessState.ExitCode(), nil
}

// watched runs the command and its watcher.
func watched(group *os.File) (int, error) {
	split := slices.Index(flag.Args(), "--")
	if split < 0 {
		return 0, errors.New("-watch needs -- and a watcher")
	}
	command, watcher := flag.Args()[:split], flag.Args()[split+1:]
	first := exec.Command("/proc/self/exe", "-pause")
	first.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}
	if err := first.Start(); err != nil {
		return 0, err
	}
	defer func() { _ = first.Process.Kill(); _ = first.Wait() }() // and all in its namespace
	if err := join(first.Process.Pid); err != nil {
		return 0, err
	}
	target := inside(group, syscall.CLONE_NEWNS, command)
	if err := target.Start(); err != nil {
		return 0, err
	}
	awaitExec(target.Process.Pid)
	var beside *exec.Cmd
	if *watch == "sidecar" {
		own, err := container("0123456789abcdef", 0)
		if err != nil {
			return 0, err
		}
		beside = inside(own, syscall.CLONE_NEWNS, watcher)
	} else {
		if err := join(os.Getpid()); err != nil {
			return 0, err
		}
		beside = exec.Command(watcher[0], watcher[1:]...)
		beside.Stdout, beside.Stderr = os.Stdout, os.Stderr
	}
	if err := beside.Start(); err != nil {
		return 0, err
	}
	_ = target.Wait()
	if *watch == "sidecar" { // it waits for another program of that name: it is told to end
		time.Sleep(3 * time.Second) // emulated, it may not have seen the first one's end
		_ = beside.Process.Signal(syscall.SIGTERM)
	}
	return codeOf(beside, beside.Wait())
}

// join has what this thread starts be in the PID namespace of a process, from now on.
func join(pid int) error {
	runtime.LockOSThread()
	f, err := os.Open(fmt.Sprintf("/proc/%d/ns/pid", pid))
	if err != nil {
		return err
	}
	defer f.Close()
	return unix.Setns(int(f.Fd()), unix.CLONE_NEWPID)
}

// awaitExec waits until a process is not a copy of this one any more.
func awaitExec(pid int) {
	own, _ := os.Readlink("/proc/self/exe")
	for {
		exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
		if err != nil || filepath.Base(exe) != filepath.Base(own) {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// enter is what runs inside, before the command.
func enter(command []string) error {
	if *private {
		if err := syscall.Unshare(syscall.CLONE_NEWCGROUP); err != nil {
			return fmt.Errorf("a cgroup namespace: %w", err)
		}
	}
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("mounts of its own: %w", err)
	}
	if err := syscall.Unmount(root, 0); err != nil {
		return fmt.Errorf("unmount %s: %w", root, err)
	}
	base := ""
	if *readOnly {
		var err error
		if base, err = emptyRoot(); err != nil {
			return err
		}
	}
	if err := mounts(base); err != nil {
		return err
	}
	if base != "" {
		if err := syscall.Mount("", base, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
			return fmt.Errorf("a read-only root: %w", err)
		}
		if err := syscall.Chroot(base); err != nil {
			return err
		}
		if err := os.Chdir("/"); err != nil {
			return err
		}
	}
	if *user > 0 {
		if err := errors.Join(syscall.Setgroups(nil), syscall.Setgid(*user), syscall.Setuid(*user)); err != nil {
			return err
		}
	}
	return syscall.Exec(command[0], command, os.Environ())
}

// mounts are those of a container, below base.
func mounts(base string) error {
	for _, m := range []struct {
		source, target, kind string
		flags                uintptr
	}{
		{"proc", "/proc", "proc", 0},
		{"cgroup2", root, "cgroup2", syscall.MS_RDONLY},
	} {
		if err := syscall.Mount(m.source, base+m.target, m.kind, m.flags, ""); err != nil {
			return fmt.Errorf("mount %s: %w", base+m.target, err)
		}
	}
	return nil
}

// emptyRoot makes the root that -read-only describes.
func emptyRoot() (string, error) {
	const base = "/mnt"
	if err := os.MkdirAll(base, 0o755); err != nil {
		return "", err
	}
	if err := syscall.Mount("tmpfs", base, "tmpfs", 0, ""); err != nil {
		return "", fmt.Errorf("mount %s: %w", base, err)
	}
	for _, dir := range []string{"/bin", "/out", "/proc", "/dev", root} {
		if err := os.MkdirAll(base+dir, 0o755); err != nil {
			return "", err
		}
	}
	for from, to := range map[string]string{"/bin": "/bin", "/dev": "/dev", "/tmp/out": "/out"} {
		if err := syscall.Mount(from, base+to, "", syscall.MS_BIND, ""); err != nil {
			return "", fmt.Errorf("bind %s: %w", from, err)
		}
	}
	return base, nil
}
