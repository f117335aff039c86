package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// unit runs a command as a service of systemd with a limit, and then another one here, until the service has ended.
func unit(name string, service []string, then string) []string {
	const script = `unit=$1 then=$2; shift 2
systemd-run -q --unit="$unit" -p MemoryMax=64M -p MemorySwapMax=0 "$@" || exit
$then
while systemctl is-active -q "$unit"; do sleep 0.2; done
systemctl show -p Result,ExecMainStatus "$unit"`
	return append([]string{"/bin/sh", "-c", script, "sh", name, then}, service...)
}

// guestPart is what one test has a guest do: its results are those of its own commands and files.
type guestPart struct {
	name  string
	cmds  [][]string
	fetch []string
	check func(t *testing.T, r hwtest.GuestResult)
}

// TestUnderSystemd boots a machine with a real systemd, once for all that need one.
func TestUnderSystemd(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("boots a system")
	}
	parts := []guestPart{userWithoutRights(), onlyWatched()}
	g := hwtest.Guest{
		Systemd: true, Memory: 768 * sample.MiB, Timeout: 16 * time.Minute,
		Files: map[string]string{"/bin/highwater": highwater(t), "/bin/leak": testprog(t, "leak"), "/bin/ticker": testprog(t, "ticker")},
	}
	for _, p := range parts {
		g.Cmds, g.Fetch = append(g.Cmds, p.cmds...), append(g.Fetch, p.fetch...)
	}
	r := g.Run(t)
	for _, p := range parts {
		own := r
		own.Cmds, r.Cmds = r.Cmds[:len(p.cmds)], r.Cmds[len(p.cmds):]
		t.Run(p.name, func(t *testing.T) { p.check(t, own) })
	}
}

// userWithoutRights runs highwater in a user's session: the user may not make cgroups, the
// user's systemd may. Services of that systemd have limits of their own, with highwater in them and outside.
func userWithoutRights() guestPart {
	const kept, inside, outside = "/home/user/leak.hwm", "/root/inside.hwm", "/root/outside.hwm"
	session := []string{"/sbin/runuser", "-u", "user", "--", "/usr/bin/env", "XDG_RUNTIME_DIR=/run/user/1000", "HOME=/home/user"}
	as := func(args ...string) []string { return append(session[:len(session):len(session)], args...) }
	return guestPart{
		name: "a user without rights gets a limit",
		cmds: [][]string{
			as("/bin/highwater", "run", "-q", "--limit", "64MiB", "-o", kept, "--", "/bin/leak", "-rate", "8MiB"),
			as("/bin/highwater", "doctor"),
			as("/usr/bin/systemctl", "--user", "list-units", "--all", "--plain", "--no-legend", "--type=scope"),
			unit("inside.service", []string{"/bin/highwater", "run", "-o", inside, "--", "/bin/leak", "-rate", "8MiB"}, "true"),
			unit("outside.service", []string{"/bin/leak", "-rate", "1MiB"}, "/bin/highwater watch --unit outside --enable-heap-profile -o "+outside),
		},
		fetch: []string{kept, inside, outside},
		check: func(t *testing.T, r hwtest.GuestResult) {
			for path, c := range map[string]hwtest.GuestCmd{inside: r.Cmds[3], outside: r.Cmds[4]} {
				killedAsAService(t, path, r.Files[path], c)
			}
			limitedByAScope(t, r.Files[kept], r.Cmds[0])
			doctor, scopes := r.Cmds[1], r.Cmds[2]
			if !strings.Contains(doctor.Output, "systemd") {
				t.Errorf("doctor does not name systemd:\n%s", doctor.Output)
			}
			if strings.Contains(scopes.Output, "highwater") {
				t.Errorf("left behind:\n%s", scopes.Output)
			}
		},
	}
}

// limitedByAScope checks what was recorded of a run that its scope's limit of 64 MiB ended.
func limitedByAScope(t *testing.T, recorded []byte, run hwtest.GuestCmd) {
	t.Helper()
	if run.Code != 137 {
		t.Errorf("code %d, want 137:\n%s", run.Code, run.Output)
	}
	s := shown{recording: filepath.Join(t.TempDir(), "leak.hwm"), progress: run.Output}
	if err := os.WriteFile(s.recording, recorded, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := recording.Verify(s.recording); err != nil {
		t.Errorf("verify: %v", err)
	}
	a := s.answer(t, "")
	if limit := a.Outcome.LimitBytes; a.Outcome.By != explain.ByCgroup || limit == nil || *limit != 64*sample.MiB {
		t.Errorf("killed by %q under %v, want the scope's limit of 64 MiB:\n%s", a.Outcome.By, limit, a.Verdict.Sentence)
	}
	closes(t, a)
}

// killedAsAService checks what was recorded of a service that its own limit of 64 MiB killed.
func killedAsAService(t *testing.T, path string, recorded []byte, said hwtest.GuestCmd) {
	t.Helper()
	s := shown{recording: filepath.Join(t.TempDir(), filepath.Base(path)), progress: said.Output}
	if err := os.WriteFile(s.recording, recorded, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := recording.Verify(s.recording); err != nil {
		t.Fatalf("%s: %v\n%s", path, err, said.Output)
	}
	a := s.answer(t, "")
	o := a.Outcome
	if !o.Kernel || o.By != explain.ByCgroup && o.By != explain.ByParent || o.LimitOf != "service" || o.LimitBytes == nil || *o.LimitBytes != 64*sample.MiB {
		t.Errorf("%s: outcome %+v, want killed by the service's limit of 64 MiB:\n%s\n%s", path, o, a.Verdict.Sentence, said.Output)
	}
	if len(a.Holders) == 0 || !strings.HasSuffix(a.Holders[0].File, "leak/main.go") {
		t.Errorf("%s: holders %+v, want leak/main.go first\n%s", path, a.Holders, said.Output)
	}
}
