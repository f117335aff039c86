package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// aContainer is named as containerd names its cgroups under systemd.
const aContainer = "3f2504e04f8911d39a0c0305e82c3301a1b2c3d4e5f60718293a4b5c6d7e8f90"

// awaited is a shell script: a program waits in a cgroup of 64 MiB until it is
// watched in the given way, and is killed then.
func awaited(group, how, kept string) []string {
	return []string{"/bin/sh", "-c", fmt.Sprintf(`set -e
echo +memory > /sys/fs/cgroup/cgroup.subtree_control
mkdir -p %[1]s
for up in $(dirname %[1]s); do case $up in /sys/fs/cgroup) ;; *) echo +memory > $up/cgroup.subtree_control;; esac; done
echo 64M > %[1]s/memory.max
test ! -e %[1]s/memory.swap.max || echo 0 > %[1]s/memory.swap.max
mkfifo %[3]s.go
sh -c 'echo $$ > %[1]s/cgroup.procs; read x < %[3]s.go; exec /bin/leak -rate 8MiB' &
target=$!
until grep -q $target %[1]s/cgroup.procs; do :; done
/bin/highwater watch %[2]s --enable-heap-profile -o %[3]s &
until test -s %[3]s; do :; done
echo > %[3]s.go
wait $!`, group, how, kept)}
}

// onlyWatched has programs that run under cgroup version 2 and the Yama security module, and are only to be watched.
func onlyWatched() guestPart {
	const byGroup, byContainer = "/root/group.hwm", "/root/container.hwm"
	pod := "/sys/fs/cgroup/pod/cri-containerd-" + aContainer + ".scope"
	yama := func(scope int) []string {
		return []string{"/bin/sh", "-c", fmt.Sprintf(`echo %d > /proc/sys/kernel/yama/ptrace_scope || exit 99
cat > /tmp/mine <<'.'
/bin/ticker -for 1m > /tmp/ticks & target=$!
until test -s /tmp/ticks; do :; done
/bin/highwater watch $target --for 1s -o /tmp/mine.hwm; code=$?
kill $target
rm -f /tmp/ticks /tmp/mine.hwm
exit $code
.
runuser -u user -- sh /tmp/mine`, scope)}
	}
	return guestPart{
		name: "programs that are only watched",
		cmds: [][]string{
			awaited("/sys/fs/cgroup/shop", "--cgroup /shop", byGroup),
			awaited(pod, "--container "+aContainer[:12], byContainer),
			yama(0), yama(1), yama(2), yama(3), // which can only be raised: the last
		},
		fetch: []string{byGroup, byContainer},
		check: func(t *testing.T, r hwtest.GuestResult) {
			for i, kept := range []string{byGroup, byContainer} {
				t.Run(filepath.Base(kept), func(t *testing.T) { wasKilledUnderWatch(t, r, i, kept) })
			}
			for i, want := range []struct {
				code int
				says string
			}{{0, "ticker was watched for"}, {5, "kernel.yama.ptrace_scope is 1"}, {5, "kernel.yama.ptrace_scope is 2"}, {5, "kernel.yama.ptrace_scope is 3"}} {
				if got := r.Cmds[2+i]; got.Code != want.code || !strings.Contains(strings.Join(strings.Fields(got.Output), " "), want.says) {
					t.Errorf("Yama %d: code %d, want %d and %q:\n%s", i, got.Code, want.code, want.says, got.Output)
				}
			}
		},
	}
}

func wasKilledUnderWatch(t *testing.T, r hwtest.GuestResult, i int, kept string) {
	if got := r.Cmds[i]; got.Code != 0 {
		t.Errorf("code %d:\n%s", got.Code, got.Output)
	}
	s := shown{recording: filepath.Join(t.TempDir(), "kept.hwm"), progress: r.Cmds[i].Output}
	if err := os.WriteFile(s.recording, r.Files[kept], 0o644); err != nil {
		t.Fatal(err)
	}
	if err := recording.Verify(s.recording); err != nil {
		t.Errorf("verify: %v", err)
	}
	a := s.answer(t, "")
	if limit := a.Outcome.LimitBytes; a.Outcome.By != explain.ByCgroup || limit == nil || *limit != 64*sample.MiB {
		t.Errorf("killed by %q under %v, want 64 MiB:\n%s", a.Outcome.By, limit, a.Verdict.Sentence)
	}
	if len(a.Holders) == 0 || !strings.HasSuffix(a.Holders[0].File, "leak/main.go") {
		t.Errorf("held by %+v", a.Holders)
	}
	closes(t, a)
}
