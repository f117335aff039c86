package hwtest

import (
	"fmt"
	"path/filepath"
)

// machine is what a guest of one architecture runs on.
type machine struct {
	qemu          string
	kernels       string   // their directory in the tests' cache
	args          []string // of QEMU: the processor, the serial port for reports
	console, port string   // devices in the guest
}

var machines = map[string]machine{
	"amd64": {"qemu-system-x86_64", "kernel-amd64", []string{"-cpu", "max", "-serial", "chardev:reports"}, "ttyS0", "/dev/ttyS1"},
	"arm64": {"qemu-system-aarch64", "kernel-arm64", []string{"-machine", "virt", "-cpu", "cortex-a76", "-device", "pci-serial,chardev=reports"}, "ttyAMA0",
		"/dev/ttyS0"},
}

// QEMU needs the emulator and a kernel for the guest.
func QEMU() error { return machines["amd64"].there() }

func (m machine) there() error {
	if err := Program(m.qemu)(); err != nil {
		return err
	}
	_, err := m.kernel()
	return err
}

// kernel finds the guest's kernel in the tests' cache, where
// internal/aside/hwtest/guest/fetch-kernel.sh puts it.
func (m machine) kernel() (string, error) {
	cache, err := cacheBase()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, m.kernels)
	found, err := filepath.Glob(filepath.Join(dir, "boot", "vmlinuz-*"))
	if err != nil || len(found) == 0 {
		return "", fmt.Errorf("needs a kernel for the guest in %s: run internal/aside/hwtest/guest/fetch-kernel.sh", dir)
	}
	return found[len(found)-1], nil
}
