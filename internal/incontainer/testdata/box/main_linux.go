// Box runs a command as a container engine does where memory is in cgroup version 2: as
// the first process of a PID namespace, in the cgroup of a container in that of a pod,
// with mounts of its own and /sys/fs/cgroup read-only.
//
//	box [-pod 96] [-limit 64] [-private] COMMAND [ARGS]
package main

import (
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

const (
	root = "/sys/fs/cgroup"
	pod  = "kubepods/pod8a1b2c3d-0001"
	mib  = 1 << 20
)

func main() {
	log.SetFlags(0)
	podLimit := flag.Int("pod", 0, "MiB, 0: none")
	limit := flag.Int("limit", 0, "MiB, 0: none")
	private := flag.Bool("private", false, "with a cgroup namespace of its own")
	inner := flag.Bool("inner", false, "this is the container")
	flag.Parse()
	if *inner {
		log.Fatal(enter(*private, flag.Args()))
	}
	code, err := outside(*podLimit, *limit)
	if err != nil {
		log.Fatal(err)
	}
	os.Exit(code)
}

// outside makes the cgroups, runs the container and removes them.
func outside(podLimit, limit int) (int, error) {
	dir := filepath.Join(root, pod, strings.Repeat("3f4e5d6c7b8a9012", 4))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return 0, err
	}
	share(root)
	share(filepath.Join(root, "kubepods"))
	share(filepath.Join(root, pod))
	for dir, n := range map[string]int{filepath.Join(root, pod): podLimit, dir: limit} {
		text := "max"
		if n > 0 {
			text = fmt.Sprint(n * mib)
		}
		if err := os.WriteFile(filepath.Join(dir, "memory.max"), []byte(text), 0); err != nil {
			return 0, err
		}
	}
	group, err := os.Open(dir)
	if err != nil {
		return 0, err
	}
	cmd := exec.Command("/proc/self/exe", append([]string{"-inner"}, os.Args[1:]...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWPID | syscall.CLONE_NEWNS,
		UseCgroupFD: true, CgroupFD: int(group.Fd()),
	}
	err = cmd.Run()
	if exit := new(exec.ExitError); !errors.As(err, &exit) && err != nil {
		return 0, err
	}
	return cmd.ProcessState.ExitCode(), nil
}

// share hands the memory controller to the cgroups below.
func share(dir string) {
	_ = os.WriteFile(filepath.Join(dir, "cgroup.subtree_control"), []byte("+memory"), 0)
}

// enter is what runs inside, before the command.
func enter(private bool, command []string) error {
	if private {
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
	for _, m := range []struct {
		source, target, kind string
		flags                uintptr
	}{
		{"proc", "/proc", "proc", 0},
		{"cgroup2", root, "cgroup2", syscall.MS_RDONLY},
	} {
		if err := syscall.Mount(m.source, m.target, m.kind, m.flags, ""); err != nil {
			return fmt.Errorf("mount %s: %w", m.target, err)
		}
	}
	return syscall.Exec(command[0], command, os.Environ())
}
