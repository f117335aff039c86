package explain

import (
	"slices"
	"strings"
)

// sure is the confidence in a line: the level, the one reason that says most, and what would
// raise it. The other reasons are in Reasons. A program that the kernel killed runs no longer
// under the same limit.
func sure(v *Verdict, o *Outcome, crash *Crash) string {
	if v.Class == Inconclusive {
		return ""
	}
	text, reason, advice := capital(string(v.Confidence))+" confidence", "", ""
	if len(v.Reasons) > 0 {
		reason = v.Reasons[0]
	}
	if crash != nil && v.Class == Healthy && v.Confidence != High { // how it ended is known; what memory would have done is not
		text = "High confidence in the crash. " + text + " about memory"
	}
	if v.Confidence != High {
		doubt, to := raisedBy(v)
		if advice = to; doubt != "" && (v.Class != Leak || doubt == doubtResult || doubt == doubtInOneCall) { // else the readings say more of a leak
			reason = doubt
		}
	}
	if o.LimitBytes == nil {
		advice = strings.Replace(advice, "Run the program under a higher limit", "Run the program for longer", 1)
	}
	if o.Kernel {
		advice = strings.Replace(advice, "Run for longer", "Run under a higher limit, for longer", 1)
	}
	if reason != "" {
		text += ": " + strings.TrimSuffix(reason, ".")
	}
	return strings.TrimSpace(text + ". " + advice)
}

// raisedBy is the weightiest doubt in a verdict, "" if none has an advice, and what would make
// the verdict surer.
func raisedBy(v *Verdict) (doubt, advice string) {
	for _, d := range doubts {
		if slices.Contains(v.Reasons, d.reason) {
			return d.reason, d.advice
		}
	}
	return "", adviceOf[v.Class]
}

// doubts are reasons against a verdict, the weightiest first, each with what would tell.
var doubts = []struct{ reason, advice string }{
	{doubtResult, "Run a larger job to see whether that needs more."},
	{doubtInOneCall, "Run for longer: when the call returns, a GC shows what is still retained."},
	{doubtCutShort, "Run the program under a higher limit: what it loads or works on stops growing, a leak does not."},
	{doubtDeep, "Run the program under a higher limit: GC shrinks a stack whose calls have returned."},
	{doubtJob, "Run a larger job to see whether that needs more."},
	{doubtEnded, "What a job keeps for its result looks the same. Run for longer than a minute, or a larger job, to tell."},
	{doubtOpenCalls, "Run the program under a higher limit: work in flight ends and frees its memory, a leak does not."},
	{doubtFirstRise, "A cache that is still filling looks the same. Run for longer than a minute to tell."},
	{doubtFirstMinute, "A cache or a queue that is still filling looks the same. Run for longer than a minute to tell."},
	{doubtShortRise, "Run for longer than a minute."},
	{doubtSlowing, "A cache that fills up looks the same. Run for longer to tell."},
	{doubtUnretained, "To see what retains the memory, capture the heap: --heap kill."},
	{doubtStillGrowing, "Run the program with GOMEMLIMIT to prove the cause."},
	{doubtShortWatch, "Run for longer than a minute."},
	{doubtOneCall, "Run for longer: a GC shows what is still retained."},
	{doubtNoneEnded, "Run the program under a higher limit: work in flight ends and frees its memory, a leak does not."},
	{doubtFreedNow, "Run highwater for longer: what stays free is fragmentation."},
	{doubtMuchInUse, "Run highwater for longer: what stays free is fragmentation."},
	{doubtShared, "To see which line keeps it: highwater run --native=live."},
	{doubtTurnsOver, "To see what C holds at a time: highwater run --native=live."},
	{doubtReturned, "Run for longer: what a line keeps grows on, and what it returns does not."},
	{doubtPartFaults, "Start the program with highwater run, so that all is sampled."},
	{doubtSmallLine, "To see what retains the memory, capture the heap: --heap peak."},
	{doubtFewFaults, "Run for longer, or under more load."},
	{doubtPartBlocks, "Start the program with highwater run, so that all is sampled."},
	{doubtFewBlocks, "Run for longer, or under more load."},
	{doubtOutran, "Run the program with GOMEMLIMIT to find out."},
	{doubtHarmless, "Set the limit that the program will have, to see whether the peak fits."},
	{doubtCheaper, "Change the program, record it again, and compare the two: highwater diff."},
	{doubtUnread, "Run for longer, or capture the heap: --heap every=5s."},
}

// adviceOf is what would raise the confidence in a class where no doubt is named.
var adviceOf = map[Class]string{
	Leak:       "To see what retains the memory, capture the heap: --heap kill.",
	Backlog:    "Run the program under less load: the queue empties, and its memory is freed.",
	Burst:      "Run the program under a higher limit: after a burst the live heap falls again.",
	Goroutines: "Run for longer than a minute.",
	GCUnaware:  "Run the program with GOMEMLIMIT to prove the cause.",
	Processes:  "Run for longer than a minute.",
	Baseline:   "Run the program under a higher limit: the live heap should stay as it is.",
	Native:     "Run highwater as root to see each page and who wrote it first.",
	IdleHeap:   "Run highwater as root to see each page.",
	Fragmented: "Run highwater for longer to read all blocks.",
	Thrash:     "Run the program under a higher limit to prove the cause.",
	Healthy:    "Run for longer, or under more load.",
}

// Reasons of doubt that have an advice of their own.
const (
	doubtDeep         = "the stack was seen only once"
	doubtSmallLine    = "less than half of what rose was seen at that line"
	doubtMuchInUse    = "C code has much memory in use, and may need what it freed again"
	doubtFreedNow     = "malloc did not keep this memory at earlier readings"
	doubtJob          = "the program ended by itself, and a job keeps what it works on"
	doubtOpenCalls    = "calls that allocated the memory had not returned"
	doubtOneCall      = "one call allocated the memory, and no GC has run since it was seen to have returned"
	doubtInOneCall    = "one call allocated the memory, and had not returned"
	doubtNoneEnded    = "no call was seen to end, and the program was killed within seconds"
	doubtFirstRise    = "the growth was seen for less than a minute"
	doubtCutShort     = "the kernel ended the program in its first rise"
	doubtShortRise    = "the growth took less than 3 s"
	doubtSlowing      = "the growth slows down"
	doubtUnretained   = "nothing shows what retains the memory"
	doubtStillGrowing = "the live heap was still growing, and no setting stops that"
	doubtShortWatch   = "the program was watched for less than a minute"
	doubtHarmless     = "no limit was near, so the peak did no harm"
	doubtCheaper      = "one run cannot tell whether the work could be done with less"
	doubtUnread       = "the live heap was not read in the last third of the run"
)
