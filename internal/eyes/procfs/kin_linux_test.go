package procfs

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

func TestKinFindsWhatDescendantsFinds(t *testing.T) {
	k := NewKin("/proc")
	defer k.Close()
	if below, err := k.Below(os.Getpid()); err != nil || slices.Contains(below, os.Getpid()) {
		t.Fatalf("%v, %v", below, err)
	}
	for range 2 { // the second tree begins when the first is known
		cmd := exec.Command("sh", "-c", "(sleep 1000 & echo $!; exec sleep 1000) & wait")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		pid, _ := start(t, cmd)
		t.Cleanup(func() { syscall.Kill(-pid, syscall.SIGKILL) })
		want, err := Descendants("/proc", pid)
		if err != nil || len(want) != 2 {
			t.Fatalf("%v, %v", want, err)
		}
		var got []int
		for !slices.Equal(got, want) { // the test's own time ends it
			if got, err = k.Below(pid); err != nil {
				t.Fatal(err)
			}
		}
		if all, err := k.Below(os.Getpid()); err != nil || !slices.Contains(all, want[1]) {
			t.Errorf("below this process: %v, %v, without %d", all, err, want[1])
		}
	}
}

func TestBirthsAreToldByTheLastPid(t *testing.T) {
	root := t.TempDir()
	write := func(text string) {
		if err := os.WriteFile(filepath.Join(root, "loadavg"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b := Births{Root: root}
	defer b.Close()
	for range 2 {
		if !b.Any() {
			t.Error("nothing is known of births, and none is told")
		}
	}
	for _, c := range []struct {
		text string
		any  bool
	}{{"0.1 0.2 0.3 1/99 700\n", true}, {"0.9 0.2 0.3 2/99 700\n", false}, {"0.9 0.2 0.3 2/99 701\n", true}, {"malformed", true},
		{"0.9 0.2 0.3 2/99 701\n", false}} {
		write(c.text)
		if got := b.Any(); got != c.any {
			t.Errorf("%q: %v, want %v", c.text, got, c.any)
		}
	}
}
