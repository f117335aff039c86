package explain

import (
	"fmt"

	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/units"
)

// headline is the first sentence of an answer: the program, what became of it, and what
// ended it.
func headline(p Program, o Outcome) string {
	name, after := p.Name, seconds(o.Elapsed)
	if name == "" {
		name = "The program"
	}
	if p.Place != "" {
		name += " in " + p.Place
	}
	switch {
	case o.Kernel:
		return fmt.Sprintf("%s was OOM-killed%s: %s.", name, o.when(after), o.struck())
	case o.Stopped != "":
		return fmt.Sprintf("%s ran for %s%s. %s.", name, after, o.used(" and"), o.stoppedBy())
	case o.State == Seen && o.Elapsed == 0:
		return name + " was recorded at one instant."
	case o.State == Seen:
		return fmt.Sprintf("%s was recorded for %s.", name, after)
	case o.State == Running && o.Watched:
		return fmt.Sprintf("%s was watched for %s%s.", name, after, o.used(" and"))
	case o.State == Running:
		return fmt.Sprintf("%s was still running after %s%s.", name, after, o.used(" and had"))
	}
	text := fmt.Sprintf("%s %s%s%s.", name, o.endWords(), o.when(after), o.used(" and"))
	switch {
	case o.Signal != "SIGKILL":
	case o.full():
		text += " The OOM killer was not seen to send that signal."
	default:
		text += " The OOM killer did not send that signal."
	}
	return text
}

// full reports whether the memory came so near to the limit that the OOM killer may have ended the program unseen:
// the kernel's counter is one of the cgroup, and may be read too late or be gone with it.
func (o Outcome) full() bool {
	return o.LimitBytes != nil && o.PeakBytes != nil && *o.PeakBytes+max(*o.LimitBytes/16, 4*sample.MiB) >= *o.LimitBytes
}

// endWords is how the program ended where neither the kernel nor highwater ended it.
func (o Outcome) endWords() string {
	switch {
	case o.Signal == "SIGKILL":
		return "was killed by SIGKILL"
	case o.State == Killed && !asksToStop(o.Signal):
		return "crashed with " + o.Signal
	case o.Signal != "":
		return "was stopped by " + o.Signal
	case o.ExitCode != nil && *o.ExitCode == 0:
		return "exited normally"
	case o.ExitCode != nil:
		return fmt.Sprintf("exited with code %d", *o.ExitCode)
	}
	return "ended"
}

func asksToStop(signal string) bool {
	return signal == "SIGTERM" || signal == "SIGINT" || signal == "SIGHUP"
}

// when is the time of the end, "" of a core file, whose start is not known.
func (o Outcome) when(after string) string {
	switch {
	case o.Elapsed == 0:
		return ""
	case o.Watched:
		return " " + after + " after the watch began"
	}
	return " after " + after
}

// struck names the limit that was hit.
func (o Outcome) struck() string {
	switch {
	case o.LimitOf != "" && o.LimitBytes != nil && (o.By == ByCgroup || o.By == ByParent):
		return fmt.Sprintf("its %s hit the %s memory limit", o.LimitOf, units.Limit(*o.LimitBytes))
	case o.By == ByCgroup && o.LimitBytes != nil:
		return fmt.Sprintf("it hit its %s memory limit", units.Limit(*o.LimitBytes))
	case o.By == ByCgroup:
		return "it hit the memory limit of its cgroup"
	case o.By == ByParent:
		return "a parent cgroup hit its memory limit"
	case o.By == ByNode:
		return "the machine ran out of memory"
	}
	return "which memory limit was hit, or whether the machine ran out of memory, was not seen"
}

// used is the peak of the memory, against the limit where there is one.
func (o Outcome) used(and string) string {
	switch {
	case o.PeakBytes == nil:
		return ""
	case o.LimitBytes == nil || *o.LimitBytes == 0:
		return fmt.Sprintf("%s used at most %s", and, units.Short(*o.PeakBytes))
	}
	share := units.Percent(float64(*o.PeakBytes), float64(*o.LimitBytes))
	peak := units.Short(*o.PeakBytes)
	if float64(*o.PeakBytes) > 0.99*float64(*o.LimitBytes) {
		peak = units.Limit(*o.PeakBytes) // rounded otherwise than the limit, it may seem to be more
	}
	return fmt.Sprintf("%s used at most %s of %s (%s)", and, peak, units.Limit(*o.LimitBytes), share)
}

// stoppedBy says why highwater ended the program, and what the program did then.
func (o Outcome) stoppedBy() string {
	text := "highwater stopped the program"
	switch o.Stopped {
	case StoppedLoad:
		text += " when its load ended"
	case StoppedInterrupt:
		text = "Ctrl-C stopped the program"
	case StoppedTime:
		text += ", as --for asked"
	case StoppedForwarded:
		text = fmt.Sprintf("%s, sent to highwater, stopped the program", o.StopSignal)
	case StoppedUnready:
		text += ", because it was never ready"
	}
	switch {
	case o.Signal == "SIGKILL":
		text += " with SIGKILL, because it ignored the first signal"
	case o.Signal == "" && o.ExitCode != nil && *o.ExitCode != 0:
		text += fmt.Sprintf(" (exit code %d)", *o.ExitCode)
	}
	return text
}
