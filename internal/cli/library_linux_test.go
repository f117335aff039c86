package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
)

// Whatever takes a process takes a program in C that has loaded a Go library.
func TestAProgramInCWithAGoLibraryIsAGoProgramToEveryCommand(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Ptrace)
	library := hwtest.Build(t, "../eyes/gomem/testdata/target", hwtest.BuildOptions{Mode: "c-shared", Tags: "library", Strip: true})
	started := func(cmd *exec.Cmd) string {
		p := hwtest.StartPiped(t, cmd)
		p.Ask("big %d", 40<<20)
		return fmt.Sprint(p.PID)
	}
	pid := started(exec.Command(hwtest.LibraryHost(t), library))
	two := started(exec.Command(hwtest.Build(t, "../record/watch/testdata/two", hwtest.BuildOptions{CGO: true}), library))
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"doctor", pid}, "host, pid " + pid + " ok target, a Go library in a program of another language: go1."},
		{[]string{"doctor", library}, library + " ok go1."},
		{[]string{"heap", pid}, "allocated at"},
		{[]string{"doctor", two}, "; not read: the Go runtime of target"},
		{[]string{"heap", two}, "NOT SEEN the heap of target: the process has several Go runtimes"},
		{[]string{"top", "--once", pid}, pid + " host 1."},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			out, err := exec.Command(highwater(t), c.args...).CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if !strings.Contains(strings.Join(strings.Fields(string(out)), " "), c.want) {
				t.Errorf("want %q in:\n%s", c.want, out)
			}
		})
	}
}

// In a PID namespace of its own "all" is what the test starts: programs of other tests are
// not traced.
func TestAmongAllGoProgramsIsOneInCWithAGoLibrary(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Root, hwtest.Ptrace, hwtest.Program("unshare"), hwtest.Program("nsenter"))
	library := hwtest.Build(t, "../eyes/gomem/testdata/target", hwtest.BuildOptions{Mode: "c-shared", Tags: "library", Strip: true})
	p := hwtest.StartPiped(t, exec.Command("unshare", "--pid", "--fork", "--mount-proc", "--kill-child", hwtest.LibraryHost(t), library))
	p.Ask("big %d", 40<<20)
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", p.PID, p.PID))
	if err != nil {
		t.Fatal(err)
	}
	inside := []string{"--target", strings.TrimSpace(string(children)), "--pid", "--mount", highwater(t), "top", "--once", "--all"}
	out, err := exec.Command("nsenter", inside...).CombinedOutput()
	if err != nil || !strings.Contains(strings.Join(strings.Fields(string(out)), " "), " 1 host 1.") {
		t.Errorf("%v\n%s", err, out)
	}
}
