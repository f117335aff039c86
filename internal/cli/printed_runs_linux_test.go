package cli_test

import (
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/cli"
)

// elsewhere are the forms that need what this test does not have, and the test that runs them.
var elsewhere = map[string]struct{ needs, test string }{
	"highwater agent --bucket-credentials --bucket-endpoint --recordings 0": {"a bucket", "TestEveryKillIsAnIncidentWhetherHeldOrNot"},
	"highwater agent --credentials --store 0":                               {"a server of ClickHouse", "TestVersionsAreComparedInAnyStore"},
	"highwater fleet init --credentials --store 0":                          {"a server of ClickHouse", "TestVersionsAreComparedInAnyStore"},
	"highwater fleet init --cluster --credentials --store 0":                {"a cluster of ClickHouse", "TestEveryQuestionHasOneAnswer"},
	"highwater fleet rollup --credentials --store 0":                        {"a server of ClickHouse", "TestVersionsAreComparedInAnyStore"},
	"highwater heap --exe 1":                                                {"a core", "TestACoreSaysTheSame"},
	"highwater heap --native 1":                                             {"a program with C", "TestHeapNativeListsLiveBlocksByLine"},
	"highwater heap --path 1":                                               {"an address of an object", "TestPromises"},
	"highwater import --exe 1":                                              {"a core", "TestACoreIsReadAsTheProcessThatItIsOf"},
	"highwater top --container 0":                                           {"a container", "TestAContainerIsWatchedFromTheHost"},
	"highwater try 1":                                                       {"a recording of a program that is killed", "TestEachHowToWorksAsItIsWritten"},
	"highwater try 2":                                                       {"a recording of a program that is killed", "TestEachHowToWorksAsItIsWritten"},
	"highwater watch --cgroup 0":                                            {"a unit of systemd", "TestACgroupIsWatchedInOneRecording"},
	"highwater watch --container 0":                                         {"a container", "TestAContainerIsWatchedFromTheHost"},
	"highwater watch --container --enable-heap-profile 0":                   {"a container", "TestThePodsLimitIsTheOneThatCounts"},
}

// Every command that an answer, a page, an example of help or a hint prints is run: one of each form, in a folder
// that has the recordings and programs it names. What they are called is as printed; runs are shorter.
func TestEveryPrintedCommandRuns(t *testing.T) {
	hwtest.Need(t, hwtest.Root, hwtest.Cgroup, hwtest.Ptrace, hwtest.Program("unshare"), hwtest.Program("git"))
	forms := cli.PrintedForms(t)
	if len(forms) < 130 {
		t.Errorf("only %d forms were found", len(forms))
	}
	names := make([]string, 0, len(forms))
	for name := range forms {
		names = append(names, name)
	}
	sort.Strings(names)
	for form, e := range elsewhere {
		if _, ok := forms[form]; !ok {
			t.Errorf("nothing prints %q", form)
		}
		if !testIsThere(t, e.test) {
			t.Errorf("%s: there is no test %s", form, e.test)
		}
	}
	w := newPrintedWorld(t)
	for _, form := range names {
		call := forms[form]
		t.Run(strings.TrimPrefix(form, "highwater "), func(t *testing.T) {
			if e, ok := elsewhere[form]; ok {
				hwtest.Need(t, func() error { return fmt.Errorf("needs %s: %s runs it", e.needs, e.test) })
			}
			t.Parallel()
			w.run(t, form, call)
		})
	}
}

// testIsThere looks for a test by its name.
func testIsThere(t *testing.T, name string) bool {
	t.Helper()
	out, err := exec.Command("grep", "-rlw", "--include=*_test.go", "func "+name, "..").Output()
	return err == nil && len(out) > 0
}

// run runs a call as its command needs it, and wants it to end well.
func (w *printedWorld) run(t *testing.T, form string, call cli.PrintedCall) {
	f := w.folder(t, call.Args)
	args := f.fill(call.Args, w.store)
	out, err := wayOf(form)(t, w, f, args)
	var ended *exec.ExitError
	code := 0
	if errors.As(err, &ended) {
		code = ended.ExitCode()
	} else if err != nil {
		t.Fatalf("%s: %q: %v\n%s", call.Where, args, err, out)
	}
	if code != 0 && !mayEndWith(form, code) {
		t.Errorf("%s: %q ends with code %d\n%s", call.Where, args, code, out)
	}
	if strings.TrimSpace(string(out)) == "" && !slices.Contains(silent, args[0]) {
		t.Errorf("%s: %q says nothing", call.Where, args)
	}
}
