// Command guest is process 1 of the machine that hwtest.Guest emulates, or a
// service of the systemd that it starts. It
// mounts what programs expect, shares the memory controller of cgroup version 2
// out, runs the commands of /job.json, reports them on a serial port,
// and switches the machine off.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
)

func main() {
	underSystemd := len(os.Args) == 2 && os.Args[1] == "work"
	if os.Getpid() != 1 && !underSystemd {
		fmt.Fprintln(os.Stderr, "guest is the init of a test machine, see package hwtest")
		os.Exit(2)
	}
	defer unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF)
	job, setupErr := readJob()
	switch {
	case setupErr != nil || underSystemd:
	case job.Systemd:
		setupErr = errors.Join(mount("devtmpfs", "/dev"), startSystemd(job))
	default:
		setupErr = setup()
	}
	if setupErr == nil && job.Disk && !job.Systemd {
		setupErr = mountDisk()
	}
	port, err := os.OpenFile(job.Port, os.O_WRONLY|unix.O_NOCTTY, 0)
	if err != nil {
		fmt.Println("guest: no serial port for its reports:", err)
		return
	}
	last := hwtest.Report{Done: true}
	if err := finish(setupErr, job, json.NewEncoder(port)); err != nil {
		last = hwtest.Report{Error: "guest's init: " + err.Error()}
	}
	json.NewEncoder(port).Encode(last)
	unix.IoctlSetInt(int(port.Fd()), unix.TCSBRK, 1) // tcdrain(3)
}

// mounts are made in this order.
var mounts = []struct{ kind, at string }{
	{"proc", "/proc"}, {"sysfs", "/sys"}, {"devtmpfs", "/dev"}, {"tmpfs", "/tmp"},
	{"cgroup2", "/sys/fs/cgroup"}, {"tracefs", "/sys/kernel/tracing"},
}

func setup() error {
	os.Setenv("PATH", "/bin")
	os.Setenv("HOME", "/tmp")
	for _, m := range mounts {
		if err := mount(m.kind, m.at); err != nil {
			return err
		}
	}
	if err := os.WriteFile("/sys/fs/cgroup/cgroup.subtree_control", []byte("+memory +pids"), 0); err != nil {
		return err
	}
	return loopback()
}

func mount(kind, at string) error {
	os.MkdirAll(at, 0o755) // a sysfs has its own
	if err := unix.Mount(kind, at, kind, 0, ""); err != nil {
		return fmt.Errorf("mount %s at %s: %w", kind, at, err)
	}
	return nil
}

// loopback brings the interface lo up; the kernel gives it 127.0.0.1.
func loopback() error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("loopback: %w", err)
	}
	defer unix.Close(s)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP)
	return unix.IoctlIfreq(s, unix.SIOCSIFFLAGS, lo)
}

func readJob() (job hwtest.Job, err error) {
	b, err := os.ReadFile("/job.json")
	if err == nil {
		err = json.Unmarshal(b, &job)
	}
	return job, err
}

// finish does the job where the machine could be set up for it.
func finish(setupErr error, job hwtest.Job, out *json.Encoder) error {
	if setupErr != nil {
		return setupErr
	}
	return work(job, out)
}

// work runs the job's commands and sends the files that are wanted.
func work(job hwtest.Job, out *json.Encoder) error {
	for i, args := range job.Cmds {
		code := run(i, args, out)
		if err := out.Encode(hwtest.Report{Cmd: i, Code: &code}); err != nil {
			return err
		}
	}
	for _, name := range job.Fetch {
		if b, err := os.ReadFile(name); err == nil {
			out.Encode(hwtest.Report{File: name, Data: b})
		}
	}
	return nil
}

// mountDisk mounts the only disk, which the kernel finds while init runs already.
func mountDisk() error {
	if err := os.Mkdir("/disk", 0o755); err != nil {
		return err
	}
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		err := unix.Mount("/dev/nvme0n1", "/disk", "ext4", 0, "")
		if err == nil || time.Now().After(end) {
			return err
		}
	}
}

// run runs one command to its end and gives its code, as GuestCmd has it.
func run(i int, args []string, out *json.Encoder) int {
	w := &reporter{cmd: i, out: out}
	if len(args) == 0 {
		return -1
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = w, w
	cmd.WaitDelay = 10 * time.Second // for what it leaves running with its output
	err := cmd.Run()
	if cmd.ProcessState == nil {
		fmt.Fprintln(w, err)
		return -1
	}
	if s := cmd.ProcessState.Sys().(syscall.WaitStatus); s.Signaled() {
		return 128 + int(s.Signal())
	}
	return cmd.ProcessState.ExitCode()
}

// reporter sends a command's output.
type reporter struct {
	cmd int
	out *json.Encoder
}

func (r *reporter) Write(b []byte) (int, error) {
	return len(b), r.out.Encode(hwtest.Report{Cmd: r.cmd, Output: b})
}
