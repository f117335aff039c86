package cli_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
)

// traced runs "highwater run ARGS" and gives all that was said, and the code.
func traced(t *testing.T, args ...string) (said string, code int) {
	t.Helper()
	cmd := exec.Command(highwater(t), append([]string{"run", "-o", filepath.Join(t.TempDir(), "r.hwm")}, args...)...)
	out, _ := cmd.CombinedOutput() // its code is the program's
	return string(out), cmd.ProcessState.ExitCode()
}

func TestATracerUnderRunTracesWhatItStarts(t *testing.T) {
	hwtest.Need(t, hwtest.Ptrace)
	tracer := hwtest.Build(t, "testdata/tracer", hwtest.BuildOptions{})
	stripped := hwtest.Build(t, "testdata/tracer", hwtest.BuildOptions{Strip: true})
	hidden := hwtest.Build(t, "testdata/tracer", hwtest.BuildOptions{Tags: "raw"})
	quick, ticker := testprog(t, "quick"), testprog(t, "ticker")
	const says, end = "highwater leaves the program to ", "traced it to its end: code 0"
	for name, c := range map[string]struct {
		args []string
		says []string
	}{
		"it starts it traced":               {[]string{"--", tracer, quick}, []string{end, "highwater leaves that to tracer", says + "tracer"}},
		"it attaches":                       {[]string{"--", tracer, "-attach", ticker, "-for", "3s"}, []string{end, says + "tracer"}},
		"it is stripped":                    {[]string{"--", stripped, quick}, []string{end, says + "tracer"}},
		"all that it starts is followed":    {[]string{"--follow-forks", "--", tracer, quick}, []string{end, says + "tracer"}},
		"a shell starts it":                 {[]string{"--", "sh", "-c", tracer + " " + quick + "; exit 0"}, []string{end, says + "tracer"}},
		"nothing shows that it traces":      {[]string{"--leave-children", "--", hidden, quick}, []string{end, says + "tracer"}},
		"nothing shows that it will attach": {[]string{"--leave-children", "--", hidden, "-attach", ticker, "-for", "3s"}, []string{end}},
		"another highwater": {[]string{"--", highwater(t), "run", "-o", filepath.Join(t.TempDir(), "i.hwm"), "--", quick},
			[]string{says + "highwater"}},
		"what nothing traces is not left":    {[]string{"--", "sh", "-c", quick + "; exit 0"}, nil},
		"a tracer in a script of the shells": {[]string{"--", "sh", "-c", "exec " + tracer + " -attach " + ticker + " -for 3s"}, []string{end, says + "tracer"}},
	} {
		t.Run(name, func(t *testing.T) {
			said, code := traced(t, c.args...)
			said = strings.Join(strings.Fields(said), " ") // however it is folded
			if code != 0 || strings.Contains(said, "not permitted") || strings.Contains(said, says) != (len(c.says) > 0) {
				t.Errorf("code %d:\n%s", code, said)
			}
			for _, want := range c.says {
				if !strings.Contains(said, want) {
					t.Errorf("no %q in\n%s", want, said)
				}
			}
		})
	}
}

func TestStraceWorksUnderRun(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Ptrace, hwtest.Program("strace"))
	log := filepath.Join(t.TempDir(), "log")
	for _, args := range [][]string{
		{"--", "strace", "-f", "-o", log, testprog(t, "quick")},
		{"--", "sh", "-c", "strace -f -o " + log + " " + testprog(t, "quick") + "; exit $?"},
	} {
		said, code := traced(t, args...)
		if code != 0 || !strings.Contains(strings.Join(strings.Fields(said), " "), "highwater leaves the program to strace") { // however it is folded
			t.Errorf("%v: code %d:\n%s", args, code, said)
		}
	}
}

// Its executable does not show that it traces, and so it cannot: it is said how it could.
func TestTheAnswerOfATracerThatFailedSaysThatHighwaterTracedIt(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Ptrace)
	hidden := hwtest.Build(t, "testdata/tracer", hwtest.BuildOptions{Tags: "raw"})
	said, code := traced(t, "--", hidden, testprog(t, "quick"))
	if code != 1 || !strings.Contains(said, "cannot start it: ") || !strings.Contains(said, "run --leave-children") {
		t.Errorf("code %d:\n%s", code, said)
	}
	if said, code := traced(t, "--", testprog(t, "quick"), "-code", "1"); code != 1 || strings.Contains(said, "--leave-children") {
		t.Errorf("of a program that starts nothing: code %d:\n%s", code, said)
	}
}
