package watch

import (
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// profiles counts programs by the state of their heap profile.
func profiles(programs []sample.Program) map[sample.HeapProfileState]int {
	n := map[sample.HeapProfileState]int{}
	for _, p := range programs {
		n[p.HeapProfile]++
	}
	return n
}

func TestWhatAGoProgramStartsGetsAHeapProfile(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"itself":        {},
		"under a shell": {"-shell"},
	} {
		t.Run(name, func(t *testing.T) {
			k := &kept{}
			args := append([]string{testprog(t, "processes"), "-for", "1s", "-sizes", "2MiB,2MiB,4MiB"}, args...)
			run(t, Options{HeapProfile: true}, k, args...)
			got := profiles(k.named("processes"))
			if got[sample.HeapProfileEnabled] != 4 || len(got) != 1 {
				t.Errorf("heap profiles of the programs: %v, want 4 enabled; gaps %s", got, k.gapText())
			}
		})
	}
}

func TestWhatABusyGoProgramStartsHasNoneUnlessAskedFor(t *testing.T) {
	t.Parallel()
	busy := hwtest.Build(t, "testdata/busy", hwtest.BuildOptions{})
	for name, follow := range map[string]bool{"by default": false, "--follow-forks": true} {
		t.Run(name, func(t *testing.T) {
			k := &kept{}
			run(t, Options{HeapProfile: true, FollowForks: follow}, k, busy)
			got := profiles(k.named("busy"))
			if off, on := got[sample.HeapProfileOff], got[sample.HeapProfileEnabled]; follow && on != 7 || (off == 0) != follow {
				t.Errorf("heap profiles of the programs: %v", got)
			}
			if told := strings.Count(k.gapText(), "the start of programs that busy starts"); (told == 0) != follow || told > 1 {
				t.Errorf("gaps %s", k.gapText())
			}
		})
	}
}

func TestAProgramThatEndedIsNotFoundAgain(t *testing.T) {
	t.Parallel()
	k := &kept{}
	// What sh becomes does not ask how its child ended: it stays listed below it.
	run(t, Options{}, k, "sh", "-c", testprog(t, "quick")+" & exec "+testprog(t, "steady")+" -for 1200ms -live 1MiB")
	if p := k.named("quick"); len(p) != 1 {
		t.Errorf("%d programs called quick, want 1: %+v", len(p), p)
	}
	ends := 0
	for _, e := range k.events {
		if e.Kind == sample.EventExit {
			ends++
		}
	}
	if ends != 2 {
		t.Errorf("%d ends, want 2: %+v", ends, k.events)
	}
}
