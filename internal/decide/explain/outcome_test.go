package explain

import (
	"fmt"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

func TestWhoEndedTheProgram(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*scene)
		state  State
		by     By
		code   int
	}{
		"it ended by itself":        {func(s *scene) { s.Events[1].Text = "exit 3" }, Exited, ByNone, 3},
		"a SIGKILL is no OOM kill":  {func(s *scene) { s.Events[1].Text = "signal 9" }, Killed, BySignal, 137},
		"it crashed":                {func(s *scene) { s.Events[1].Text = "signal 6" }, Killed, BySignal, 134},
		"highwater stopped it":      {func(s *scene) { s.stoppedBy(15) }, Exited, ByNone, 143},
		"its own limit":             {func(s *scene) { s.killed() }, Killed, ByCgroup, 137},
		"its own limit's counter":   {func(s *scene) { s.oom(true, 8*sample.GiB) }, Killed, ByCgroup, 0},
		"a parent's limit":          {func(s *scene) { s.oom(false, 8*sample.GiB) }, Killed, ByParent, 0},
		"the machine":               {func(s *scene) { s.oom(false, 20*mib) }, Killed, ByNode, 0},
		"whose limit was not seen":  {func(s *scene) { s.oom(false, 0); s.Ticks.Available = nil }, Killed, ByNone, 0},
		"how it ended was not seen": {func(s *scene) { s.Events[1].Text = "unseen" }, Exited, ByNone, -1},
		"it runs":                   {func(s *scene) { s.Events = s.Events[:1] }, Running, ByNone, -1},
		"another process's exit":    {func(s *scene) { s.Events[1].Process.PID++ }, Running, ByNone, -1},
		"killed, with no exit seen": {func(s *scene) { s.killed(); s.Events = s.Events[:2] }, Killed, ByCgroup, -1},
	} {
		s := newScene()
		c.change(s)
		o := judgeOutcome(s.Evidence)
		code := -1
		if o.ExitCode != nil {
			code = *o.ExitCode
		}
		if o.State != c.state || o.By != c.by || code != c.code {
			t.Errorf("%s: %s by %s, code %d, want %s by %s, code %d", name, o.State, o.By, code, c.state, c.by, c.code)
		}
	}
}

func TestWhyHighwaterStoppedAProgramIsSaid(t *testing.T) {
	load := sample.Event{At: began, Kind: sample.EventLoadEnd}
	for name, c := range map[string]struct {
		signals []int64
		before  []sample.Event
		reason  string
		want    Stopped
	}{
		"its load ended":                    {[]int64{15}, nil, sample.SignalLoadEnd, StoppedLoad},
		"and it did not listen":             {[]int64{15, 9}, nil, sample.SignalLoadEnd, StoppedLoad},
		"its time was over":                 {[]int64{15}, []sample.Event{load}, sample.SignalTime, StoppedTime},
		"a signal from outside":             {[]int64{15}, []sample.Event{load}, sample.SignalForwarded, StoppedForwarded},
		"a hangup, too":                     {[]int64{1}, nil, sample.SignalForwarded, StoppedForwarded},
		"it was never ready":                {[]int64{15}, nil, sample.SignalUnready, StoppedUnready},
		"Ctrl-C":                            {[]int64{2}, nil, sample.SignalKeyboard, StoppedInterrupt},
		"a load ended, by an old recording": {[]int64{15}, []sample.Event{load}, "terminated", StoppedLoad},
		"asked, by an old recording":        {[]int64{15}, nil, "terminated", StoppedAsked},
		"Ctrl-C, by an old recording":       {[]int64{2}, nil, "interrupt", StoppedInterrupt},
		"a signal that ends no program":     {[]int64{10}, nil, sample.SignalForwarded, ""},
		"nobody sent one, and a load ended": {nil, []sample.Event{load}, "", ""},
	} {
		s := newScene()
		exit := s.Events[1]
		exit.Text = "signal 15"
		s.Events = append(s.Events[:1], c.before...)
		for _, n := range c.signals {
			s.Events = append(s.Events, sample.Event{At: s.Moment.At, Kind: sample.EventSignal, Process: subject, Value: n, Text: c.reason})
		}
		s.Events = append(s.Events, exit)
		o := judgeOutcome(s.Evidence)
		if o.Stopped != c.want || (o.State == Exited) != (c.want != "") {
			t.Errorf("%s: %s, stopped %q, want %q", name, o.State, o.Stopped, c.want)
		}
	}
}

func TestAReloadLongBeforeTheEndDidNotStopIt(t *testing.T) {
	for text, want := range map[string]Stopped{"exit 0": "", "signal 1": StoppedForwarded} {
		s := newScene()
		exit := s.Events[1]
		exit.Text = text
		hangup := sample.Event{At: exit.At.Add(-time.Hour), Kind: sample.EventSignal, Process: subject, Value: 1, Text: sample.SignalForwarded}
		s.Events = append(s.Events[:1], hangup, exit)
		if o := judgeOutcome(s.Evidence); o.Stopped != want || (o.StopSignal == "SIGHUP") != (want != "") {
			t.Errorf("%s: stopped %q by %q, want %q", text, o.Stopped, o.StopSignal, want)
		}
	}
}

// Ctrl-C reaches the program and highwater: the program is held at its end before the signal is noted.
func TestASignalThatIsNotedWhileTheProgramIsHeldStoppedIt(t *testing.T) {
	s := newScene()
	exit := s.Events[1]
	exit.Text = "signal 2"
	sent := sample.Event{At: exit.At.Add(30 * time.Millisecond), Kind: sample.EventSignal, Process: subject, Value: 2, Text: sample.SignalForwarded}
	s.Events = append(s.Events[:1], exit, sent)
	for held, want := range map[time.Duration]Stopped{20 * time.Millisecond: "", 40 * time.Millisecond: StoppedForwarded} {
		s.Released = map[sample.ProcessKey]time.Time{subject: exit.At.Add(held)}
		if o := judgeOutcome(s.Evidence); o.Stopped != want {
			t.Errorf("held for %s: stopped %q, want %q", held, o.Stopped, want)
		}
	}
}

// stoppedBy adds that highwater sent the signal that ended the program.
func (s *scene) stoppedBy(signal int64) {
	s.Events[1].Text = fmt.Sprintf("signal %d", signal)
	s.Events = append(s.Events, sample.Event{At: s.Moment.At, Kind: sample.EventSignal, Process: subject, Value: signal})
}

// oom is a kill far below the cgroup's limit; own: its own counter of failed
// charges grew. The machine had so much left.
func (s *scene) oom(own bool, available sample.Bytes) {
	s.Events = append(s.Events, sample.Event{At: s.End, Kind: sample.EventOOMKill, Value: 1})
	if own {
		s.Events = append(s.Events, sample.Event{At: s.End, Kind: sample.EventOOM, Value: 1})
	}
	for i := range s.Ticks.Available {
		s.Ticks.Available[i] = float64(available)
	}
}

func TestThePeakOfTheKernelCountsOnlyWhereItRose(t *testing.T) {
	s := newScene()
	if got := *peakOf(s.Evidence); got != 24*mib {
		t.Errorf("peak %d MiB, want the 24 that were seen", got/mib)
	}
	s.Peak = sample.Some(31 * mib)
	if got := *peakOf(s.Evidence); got != 31*mib {
		t.Errorf("peak %d MiB, want the kernel's 31", got/mib)
	}
	nan := allNaN(2)
	if got := risen([]float64{7, 7}); got.OK {
		t.Errorf("a mark that did not rise is from before: %v", got)
	}
	if got := risen(append(nan, 5, 9)); got != sample.Some(sample.Bytes(9)) {
		t.Errorf("risen to 9: %v", got)
	}
	s.Moment.Cgroup, s.Ticks = nil, Ticks{}
	s.Moment.Processes = nil
	if got := peakOf(s.Evidence); got != nil {
		t.Errorf("peak %d where nothing was read", *got)
	}
}

func TestTheLimitThatStruckIsThatOfTheKill(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		limit sample.Bytes
		by    By
		of    string
	}{
		"its container's":       {"own container /docker/3f4e", 31 * mib, ByCgroup, "container"},
		"its pod's":             {"above pod /kubepods/pod8a1b", 96 * mib, ByParent, "pod"},
		"one that is not seen":  {"above cgroup", 96 * mib, ByParent, ""},
		"one that we have made": {"own cgroup /highwater-1", 31 * mib, ByCgroup, ""},
	} {
		s := newScene()
		s.oom(false, 8*sample.GiB)
		s.Events = append(s.Events, sample.Event{At: s.End, Kind: sample.EventOOM, Value: int64(c.limit), Text: c.text})
		o := judgeOutcome(s.Evidence)
		if o.By != c.by || o.LimitOf != c.of || o.LimitBytes == nil || *o.LimitBytes != c.limit {
			t.Errorf("%s: %+v", name, o)
		}
	}
}

func TestAKillBesideTheProgramIsNotItsEnd(t *testing.T) {
	s := newScene()
	s.Events[1].Text = "exit 0"
	s.Events = append(s.Events, sample.Event{At: s.End, Kind: sample.EventOOMBeside, Value: 1})
	if o := judgeOutcome(s.Evidence); o.State != Exited || o.Kernel {
		t.Errorf("%+v", o)
	}
}
