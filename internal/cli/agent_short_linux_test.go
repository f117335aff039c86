package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
)

// withoutDescriptors takes an agent its descriptors: all, or all but one, which is enough to look and not enough to watch.
// A program starts meanwhile.
const withoutDescriptors = `
"$HW" agent --store "file://$DIR/store" --spool "$DIR/spool" --recordings "$DIR/recordings" --tenant test --node node-7 --metrics "$METRICS" &
agent=$!
read found
"$TICKER" -for 5m >/dev/null & first=$!
until [ -e "$DIR/watched" ]; do sleep 0.1; done
most=3
if [ "$LEFT" -gt 0 ]; then
	open=$(ls /proc/$agent/fd)
	most=0
	while [ "$LEFT" -ge 0 ]; do
		echo "$open" | grep -qx "$most" || LEFT=$((LEFT - 1))
		most=$((most + 1))
	done
	most=$((most - 1))
fi
prlimit --pid $agent --nofile=$most:
"$TICKER" -for 5m >/dev/null & second=$!
read short
prlimit --pid $agent --nofile=1024:
until [ -e "$DIR/done" ]; do sleep 0.1; done
kill -TERM $agent
wait $agent
code=$?
kill $first $second
exit $code`

// An agent that runs short of descriptors says so, and watches later what started meanwhile.
func TestAnAgentThatRunsShortOfDescriptorsWatchesLater(t *testing.T) {
	t.Parallel()
	for name, left := range map[string]string{"none is left": "0", "one is left": "1"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hwtest.Need(t, hwtest.Root, hwtest.Ptrace, hwtest.Program("unshare"), hwtest.Program("prlimit"))
			dir, metrics := t.TempDir(), freeAddress(t)
			cmd := inNamespace(withoutDescriptors, "HW="+highwater(t), "DIR="+dir, "METRICS="+metrics, "TICKER="+testprog(t, "ticker"), "LEFT="+left)
			said, told := tellOn(t, cmd)
			told("watching every Go program of node-7", "start")
			awaitMetrics(t, metrics, "highwater_agent_watched 1")
			touch(t, filepath.Join(dir, "watched"))
			told("highwater: ", "short") // that it cannot look, or not watch
			awaitMetrics(t, metrics, "highwater_agent_watched 2", `highwater_agent_unwatched{why="refused"} 0`)
			touch(t, filepath.Join(dir, "done"))
			if err := cmd.Wait(); err != nil || !strings.Contains(said(), "too many open files") {
				t.Errorf("%v\n%s", err, said())
			}
		})
	}
}

func touch(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
}
