// Command guest is process 1 of the machine that hwtest.Guest emulates. It
// mounts what programs expect, shares the memory controller of cgroup version 2
// out, runs the commands of /job.json, reports them on the second serial port,
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

	"github.com/highwater-go/highwater/internal/hwtest"
)

func main() {
	if os.Getpid() != 1 {
		fmt.Fprintln(os.Stderr, "guest is the init of a test machine, see package hwtest")
		os.Exit(2)
	}
	defer unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF)
	setupErr := setup()
	port, err := os.OpenFile("/dev/ttyS1", os.O_WRONLY|unix.O_NOCTTY, 0)
	if err != nil {
		fmt.Println("guest: no second serial port:", err)
		return
	}
	last := hwtest.Report{Done: true}
	if err := errors.Join(setupErr, work(json.NewEncoder(port))); err != nil {
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
		os.MkdirAll(m.at, 0o755) // a sysfs has its own
		if err := unix.Mount(m.kind, m.at, m.kind, 0, ""); err != nil {
			return fmt.Errorf("mount %s at %s: %w", m.kind, m.at, err)
		}
	}
	if err := os.WriteFile("/sys/fs/cgroup/cgroup.subtree_control", []byte("+memory +pids"), 0); err != nil {
		return err
	}
	return loopback()
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

// work runs the job's commands and sends the files that are wanted.
func work(out *json.Encoder) error {
	b, err := os.ReadFile("/job.json")
	if err != nil {
		return err
	}
	var job hwtest.Job
	if err := json.Unmarshal(b, &job); err != nil {
		return err
	}
	if job.Disk {
		if err := mountDisk(); err != nil {
			return err
		}
	}
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
