package hwtest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// Guest is a throwaway machine, emulated by QEMU, whose kernel has cgroup
// version 2. It has 2 CPUs, no network but loopback, a root file system in
// memory, and is 10 to 30 times slower than the host: limits of 64 to 96 MiB,
// no assertion of times. The zero value boots and ends.
type Guest struct {
	// Files are copied in: path in the guest to path here. All are executable.
	// Programs must be static, there is no C library.
	Files map[string]string
	// Cmds are run one after the other as root, with PATH=/bin and HOME=/tmp.
	Cmds [][]string
	// Fetch are files of the guest that are wanted afterwards; those that are
	// not there are left out. The line is slow: some MB at most.
	Fetch []string
	// Disk is the size of an empty ext4 file system at /disk, 0 for none: the
	// guest's other files are in memory, and theirs is no page cache.
	Disk sample.Bytes
	// Arch is the machine's: "" is amd64's, "arm64" another's. The programs are
	// built with GOARCH set to it.
	Arch string
	// Kernel is "" for that of Debian as it is on this machine, "5.10" for Debian 11's, which make matrix has.
	Kernel string
	// Systemd boots a small Debian, whose commands run once systemd has started a
	// session of the user "user", uid 1000; Files are in it, PATH is its own.
	Systemd bool
	Memory  sample.Bytes  // 0: 512 MiB
	Timeout time.Duration // of the whole run, 0: 3 minutes
}

// GuestResult is what the guest gave back.
type GuestResult struct {
	Cmds  []GuestCmd // one for each of Guest.Cmds
	Files map[string][]byte
	// Console is the kernel's console, for diagnosis.
	Console string
}

// GuestCmd is the end of one command.
type GuestCmd struct {
	Output string // standard output and error together
	Code   int    // exit code, 128+n after signal n, -1 where it did not start
}

// Job is what the guest's init is given as /job.json.
type Job struct {
	Cmds  [][]string
	Fetch []string
	Port  string // device that the reports go to
	Disk  bool   // there is one, to be mounted
	// Systemd means that the disk is the root of a system that systemd starts, and Files are to be copied into it.
	Systemd bool
	Files   []string
}

// Report is one line of JSON that the guest's init writes to a serial port of its
// own: Output of a command as it comes, or its Code, or a File, or Done.
type Report struct {
	Cmd    int
	Output []byte `json:",omitempty"`
	Code   *int   `json:",omitempty"`
	File   string `json:",omitempty"`
	Data   []byte `json:",omitempty"`
	Error  string `json:",omitempty"`
	Done   bool   `json:",omitempty"`
}

// oneGuest has the guests of a package run one after the other: each is emulated by two threads, and slower the more there are.
var oneGuest sync.Mutex

// Run boots the guest, runs the commands and gives their results. It fails the
// test where the guest does not come to its end, and skips like Need(t, QEMU).
func (g Guest) Run(t testing.TB) GuestResult {
	t.Helper()
	m := machines[orDefault(g.Arch, "amd64")]
	if g.Kernel != "" {
		m.kernels += "-" + g.Kernel
	}
	Need(t, m.there)
	if g.Systemd {
		Need(t, Systemd)
	}
	kernel, err := m.kernel()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	initrd, port := filepath.Join(dir, "initrd.gz"), filepath.Join(dir, "reports")
	if err := g.writeInitrd(t, initrd); err != nil {
		t.Fatalf("build the guest: %v", err)
	}
	disk, err := g.disk(t, dir)
	if err != nil {
		t.Fatalf("build the guest's disk: %v", err)
	}
	oneGuest.Lock()
	defer oneGuest.Unlock()
	ctx, cancel := context.WithTimeout(t.Context(), orDefault(g.Timeout, 3*time.Minute))
	defer cancel()
	console, err := g.command(ctx, m, kernel, initrd, port, disk...).CombinedOutput()
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	reports, readErr := os.ReadFile(port)
	result, parseErr := parseReports(reports, len(g.Cmds))
	result.Console = string(console)
	if err = errors.Join(err, readErr, parseErr); err != nil {
		t.Fatalf("guest: %v\nits commands so far: %+v\nits console:\n%s", err, result.Cmds, console)
	}
	return result
}

// command is QEMU with its own emulator: a /dev/kvm that opens is no proof that
// it works in a nested machine.
func (g Guest) command(ctx context.Context, m machine, kernel, initrd, port string, more ...string) *exec.Cmd {
	memory := orDefault(g.Memory, 512*sample.MiB)
	args := []string{
		"-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
		"-accel", "tcg,thread=multi", "-smp", "2", "-m", strconv.FormatUint(uint64(memory/sample.MiB), 10),
		"-serial", "stdio", "-chardev", "file,id=reports,path=" + port,
		"-kernel", kernel, "-initrd", initrd, "-append", "console=" + m.console + " panic=-1 quiet no_timer_check",
	}
	cmd := exec.CommandContext(ctx, m.qemu, slices.Concat(args, m.args, more)...)
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// disk makes the file system and gives QEMU's arguments for it. NVMe and ext4 are
// built into the guest's kernel, which has no modules at hand.
func (g Guest) disk(t testing.TB, dir string) ([]string, error) {
	t.Helper()
	size, options := g.Disk, []string{"-q", "-F"}
	if g.Systemd {
		size, options = systemdDisk, append(options, "-d", systemdRoot())
	}
	if size == 0 {
		return nil, nil
	}
	Need(t, Program("mkfs.ext4"))
	image := filepath.Join(dir, "disk")
	if err := os.WriteFile(image, nil, 0o600); err != nil {
		return nil, err
	}
	if err := os.Truncate(image, int64(size)); err != nil {
		return nil, err
	}
	if out, err := exec.Command("mkfs.ext4", append(options, image)...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("mkfs.ext4: %w\n%s", err, out)
	}
	return []string{"-drive", "file=" + image + ",if=none,id=disk,format=raw,cache=unsafe", "-device", "nvme,drive=disk,serial=1"}, nil
}

func orDefault[T comparable](v, other T) T {
	var zero T
	if v == zero {
		return other
	}
	return v
}

// parseReports reads the lines of the guest's serial port for reports.
func parseReports(b []byte, cmds int) (GuestResult, error) {
	r := GuestResult{Cmds: make([]GuestCmd, cmds), Files: map[string][]byte{}}
	for i := range r.Cmds {
		r.Cmds[i].Code = -1
	}
	lines := bufio.NewScanner(bytes.NewReader(b))
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var p Report
		if err := json.Unmarshal(lines.Bytes(), &p); err != nil {
			return r, fmt.Errorf("report %.80q: %w", lines.Bytes(), err)
		}
		switch {
		case p.Error != "":
			return r, errors.New(p.Error)
		case p.Done:
			return r, nil
		case p.File != "":
			r.Files[p.File] = append(r.Files[p.File], p.Data...)
		case p.Cmd < 0 || p.Cmd >= cmds:
			return r, fmt.Errorf("report of command %d of %d", p.Cmd, cmds)
		case p.Code != nil:
			r.Cmds[p.Cmd].Code = *p.Code
		default:
			r.Cmds[p.Cmd].Output += string(p.Output)
		}
	}
	return r, errors.Join(errors.New("it stopped before its end"), lines.Err())
}

// systemdDisk holds the small Debian (240 MB) and what a test writes.
const systemdDisk = sample.GiB

// systemdRoot is where internal/aside/hwtest/guest/fetch-systemd.sh puts the files of
// the small Debian.
func systemdRoot() string {
	base, err := cacheBase()
	if err != nil {
		return ""
	}
	return filepath.Join(base, "systemd-root")
}

// Systemd needs the small Debian that a guest boots with systemd.
func Systemd() error {
	if _, err := os.Lstat(filepath.Join(systemdRoot(), "sbin", "init")); err != nil {
		return fmt.Errorf("needs a system with systemd in %s: run internal/aside/hwtest/guest/fetch-systemd.sh", systemdRoot())
	}
	return nil
}
