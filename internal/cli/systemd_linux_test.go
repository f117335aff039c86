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

// TestAUserWithoutRightsGetsALimitFromSystemd boots a machine with a real systemd
// and runs highwater in a user's session: the user may not make cgroups, the
// user's systemd may.
func TestAUserWithoutRightsGetsALimitFromSystemd(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("boots a system")
	}
	const kept = "/home/user/leak.hwm"
	session := []string{"/sbin/runuser", "-u", "user", "--", "/usr/bin/env", "XDG_RUNTIME_DIR=/run/user/1000", "HOME=/home/user"}
	as := func(args ...string) []string { return append(session[:len(session):len(session)], args...) }
	r := hwtest.Guest{
		Systemd: true, Memory: 768 * sample.MiB, Timeout: 8 * time.Minute,
		Files: map[string]string{"/bin/highwater": highwater(t), "/bin/leak": testprog(t, "leak")},
		Cmds: [][]string{
			as("/bin/highwater", "run", "-q", "--limit", "64MiB", "-o", kept, "--", "/bin/leak", "-rate", "4MiB"),
			as("/bin/highwater", "doctor"),
			as("/usr/bin/systemctl", "--user", "list-units", "--all", "--plain", "--no-legend", "--type=scope"),
		},
		Fetch: []string{kept},
	}.Run(t)
	run, doctor, scopes := r.Cmds[0], r.Cmds[1], r.Cmds[2]
	if run.Code != 137 {
		t.Errorf("code %d, want 137:\n%s", run.Code, run.Output)
	}
	s := shown{recording: filepath.Join(t.TempDir(), "leak.hwm"), progress: run.Output}
	if err := os.WriteFile(s.recording, r.Files[kept], 0o644); err != nil {
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
	if !strings.Contains(doctor.Output, "systemd") {
		t.Errorf("doctor does not name systemd:\n%s", doctor.Output)
	}
	if strings.Contains(scopes.Output, "highwater") {
		t.Errorf("left behind:\n%s", scopes.Output)
	}
}
