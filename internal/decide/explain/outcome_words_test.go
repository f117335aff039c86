package explain

import (
	"math"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

func TestTheHeadlineSaysWhoEndedTheProgram(t *testing.T) {
	code := func(n int) *int { return &n }
	peak, limit := 24*sample.MiB, 256*sample.MiB
	for want, o := range map[string]Outcome{
		"shop ran for 12 s. highwater stopped the program when its load ended.": {State: Exited,
			Stopped: StoppedLoad, Signal: "SIGTERM", ExitCode: code(143)},
		"shop ran for 12 s and used at most 24.0 MiB of 256 MiB (9%). highwater stopped the program.": {State: Exited,
			Stopped: StoppedAsked, ExitCode: code(0), PeakBytes: &peak, LimitBytes: &limit},
		"shop ran for 12 s and used at most 24.0 MiB. highwater stopped the program (exit code 3).": {State: Exited,
			Stopped: StoppedAsked, ExitCode: code(3), PeakBytes: &peak},
		"shop ran for 12 s. highwater stopped the program when its load ended with SIGKILL, because it ignored the first signal.": {State: Exited,
			Stopped: StoppedLoad, Signal: "SIGKILL", ExitCode: code(137)},
		"shop ran for 12 s. SIGHUP, sent to highwater, stopped the program.": {State: Exited,
			Stopped: StoppedForwarded, StopSignal: "SIGHUP", Signal: "SIGHUP", ExitCode: code(129)},
		"shop ran for 12 s. highwater stopped the program, as --for asked.": {State: Exited,
			Stopped: StoppedTime, StopSignal: "SIGTERM", ExitCode: code(0)},
		"shop ran for 12 s. highwater stopped the program, because it was never ready.": {State: Exited,
			Stopped: StoppedUnready, StopSignal: "SIGTERM", ExitCode: code(0)},
		"shop ran for 12 s. Ctrl-C stopped the program.": {State: Exited,
			Stopped: StoppedInterrupt, Signal: "SIGINT", ExitCode: code(130)},
		"shop was stopped by SIGTERM after 12 s.": {State: Killed, By: BySignal,
			Signal: "SIGTERM", ExitCode: code(143)},
		"shop was killed by SIGKILL after 12 s. The OOM killer did not send that signal.": {State: Killed, By: BySignal,
			Signal: "SIGKILL", ExitCode: code(137)},
		"shop was OOM-killed after 12 s: the machine ran out of memory.": {State: Killed, By: ByNode,
			Kernel: true, Stopped: StoppedLoad},
		"shop was OOM-killed after 12 s: a parent cgroup hit its memory limit.": {State: Killed, By: ByParent,
			Kernel: true},
		"shop was OOM-killed after 12 s: it hit its 256 MiB memory limit.": {State: Killed, By: ByCgroup,
			Kernel: true, LimitBytes: &limit},
		"shop was OOM-killed 12 s after the watch began: the machine ran out of memory.": {State: Killed, By: ByNode,
			Kernel: true, Watched: true},
		"shop crashed with SIGSEGV after 12 s.": {State: Killed, By: BySignal,
			Signal: "SIGSEGV", ExitCode: code(139)},
		"shop exited with code 1 after 12 s.": {State: Exited, ExitCode: code(1)},
		"shop exited normally after 12 s and used at most 24.0 MiB of 256 MiB (9%).": {State: Exited, ExitCode: code(0),
			PeakBytes: &peak, LimitBytes: &limit},
		"shop exited with code 1 12 s after the watch began.": {State: Exited, ExitCode: code(1),
			Watched: true},
		"shop was still running after 12 s.": {State: Running},
		"shop was watched for 12 s and used at most 24.0 MiB.": {State: Running, Watched: true,
			PeakBytes: &peak},
		"shop was recorded for 12 s.": {State: Seen},
	} {
		o.Elapsed = 12
		if got := headline(Program{Name: "shop"}, o); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	full := 250 * sample.MiB
	o := Outcome{State: Killed, By: BySignal, Signal: "SIGKILL", Elapsed: 12, PeakBytes: &full, LimitBytes: &limit}
	if got := headline(Program{Name: "shop"}, o); !strings.HasSuffix(got,
		" and used at most 250 MiB of 256 MiB (98%). The OOM killer was not seen to send that signal.") {
		t.Errorf("of a full cgroup: %q", got)
	}
	if got, want := headline(Program{}, Outcome{State: Killed, Signal: "SIGABRT"}), "The program crashed with SIGABRT."; got != want {
		t.Errorf("%q, want %q: of a core file the start is not known", got, want)
	}
}

// Where no sample tells how much memory the machine had, a kill is put down to no limit, and not to the machine.
func TestAKillByAnUnknownLimitIsNotTheMachines(t *testing.T) {
	for available, want := range map[float64]string{
		math.NaN(): "which memory limit was hit, or whether the machine ran out of memory, was not seen",
		1 << 20:    "the machine ran out of memory",
		8 << 30:    "a parent cgroup hit its memory limit",
	} {
		s := newScene()
		s.Moment.Cgroup.Limit = sample.Opt[sample.Bytes]{}
		s.oom(false, 0)
		for i := range s.Ticks.Available {
			s.Ticks.Available[i] = available
		}
		if got := judgeOutcome(s.Evidence).struck(); got != want {
			t.Errorf("%v available: %s, want %s", available, got, want)
		}
	}
}

// A limit that is filled in a moment is seen by many small samples, none of which reads what the machine has.
func TestWhatTheMachineHadIsKnownBeforeManySmallSamples(t *testing.T) {
	s := newScene()
	s.Moment.Cgroup.Limit = sample.Opt[sample.Bytes]{}
	s.oom(false, 0)
	s.Ticks.Available[0] = 8 << 30
	for i := range s.Ticks.Available[1:] {
		s.Ticks.Available[i+1] = math.NaN()
	}
	for range 2 * availableSamples {
		s.Ticks.Available = append(s.Ticks.Available, math.NaN())
	}
	if got, want := judgeOutcome(s.Evidence).struck(), "a parent cgroup hit its memory limit"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
