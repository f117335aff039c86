package explain

import (
	"github.com/highwater-go/highwater/internal/measure/budget"
	"github.com/highwater-go/highwater/internal/measure/latency"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// Schema names the form of an Answer in JSON. Its fields are only ever added to.
const Schema = "highwater.explain/1"

// Answer is what explain has to say of one recording: everything that the
// report prints, and what --json carries. Amounts are bytes; no slice of an
// Answer that Explain returned is nil, so that its JSON has no null lists.
type Answer struct {
	Schema     string     `json:"schema"`
	Recording  string     `json:"recording"`
	Program    Program    `json:"program"`
	Outcome    Outcome    `json:"outcome"`
	Verdict    Verdict    `json:"verdict"`
	Crash      *Crash     `json:"crash"` // nil: the program did not crash, or where was not read
	Ledger     Ledger     `json:"ledger"`
	Peak       []Part     `json:"peak"`  // what made the memory of the moment
	Trend      Trend      `json:"trend"` // whether it will get worse
	Holders    []Holder   `json:"holders"`
	Sampling   Sampling   `json:"sampling"`
	Allocators []Holder   `json:"allocators"` // lines by bytes allocated over the run, live or not
	Run        Run        `json:"run"`
	Evidence   []Fact     `json:"evidence"`
	RuledOut   []RuledOut `json:"ruled_out"`
	Fixes      []Fix      `json:"fixes"`
	// WontHelp are changes that come to mind and do not help. NotPredicted is why
	// nothing is predicted of a setting or a limit, "" where something is.
	WontHelp     []NoHelp `json:"wont_help"`
	NotPredicted string   `json:"not_predicted"`
	Gaps         []Gap    `json:"gaps"`
	// What --metrics, --probe and --expect add; absent where they were not given.
	Work     *Work               `json:"work,omitempty"`
	Latency  *latency.Latency    `json:"latency,omitempty"`
	Expected *budget.Expectation `json:"expected,omitempty"`
	// Resident is who made native memory grow; absent where page faults were not sampled.
	Resident *Resident `json:"resident,omitempty"`
	// Files are those behind page cache and shared memory, most bytes first of each; absent where none was found.
	Files []FileHolder `json:"files,omitempty"`
	// NativeLive is which lines asked C's allocator for what is live; absent where it was not probed.
	NativeLive *NativeLive `json:"native_live,omitempty"`
}

// Program is the program that the answer is about: the process that was killed,
// else the one with the most memory at the moment.
type Program struct {
	Name        string                  `json:"name"`
	PID         int                     `json:"pid"`
	GoVersion   string                  `json:"go_version"` // "" for a program that is no Go program
	HeapProfile sample.HeapProfileState `json:"heap_profile"`
	Place       string                  `json:"place,omitempty"` // "container web of pod default/shop-0"; "": in none that is known
	Processes   []Process               `json:"processes"`       // all of the moment, largest first
}

// Process is one process at the moment. Bytes is its anonymous resident memory.
type Process struct {
	Name      string       `json:"name"`
	PID       int          `json:"pid"`
	GoVersion string       `json:"go_version"`
	Bytes     sample.Bytes `json:"bytes"`
	// Args is its command line without the program's name, in one string; values
	// that look secret are replaced.
	Args    string `json:"args"`
	Subject bool   `json:"subject"` // the answer is about it
	Signal  string `json:"signal"`  // that it died by at the moment, "" if none
}

// State says how the program ended, if it did.
type State string

// By says who ended it.
type By string

// The states and enders. A kill is the kernel's only where its counter of OOM
// kills grew; a SIGKILL alone is By "signal".
const (
	Killed  State = "killed"
	Exited  State = "exited"
	Running State = "running"
	Seen    State = "seen" // imported evidence: how it ended is not known

	ByCgroup By = "cgroup-limit"
	ByParent By = "parent-limit"
	ByNode   By = "node"
	BySignal By = "signal"
	ByNone   By = "none"
)

// Stopped says why highwater stopped the program.
type Stopped string

// The reasons. Asked is one of a recording that does not tell a signal that was
// passed on from --for.
const (
	StoppedLoad      Stopped = "load-end"
	StoppedInterrupt Stopped = "interrupt" // Ctrl-C
	StoppedForwarded Stopped = "forwarded" // StopSignal was sent to highwater, which passed it on
	StoppedTime      Stopped = "time"      // --for was over
	StoppedUnready   Stopped = "not-ready" // --ready was not answered in time
	StoppedAsked     Stopped = "asked"
)

// Outcome is what became of the program, and which moment the answer looks at.
// Nil members were not seen.
type Outcome struct {
	State         State         `json:"state"`
	By            By            `json:"by"`
	ExitCode      *int          `json:"exit_code"` // 128+n where signal n ended it
	Signal        string        `json:"signal"`    // "SIGKILL", "" if none
	LimitBytes    *sample.Bytes `json:"limit_bytes"`
	LimitOf       string        `json:"limit_of,omitempty"` // whose limit struck: "container", "pod", "service"; "": not known
	PeakBytes     *sample.Bytes `json:"peak_bytes"`         // of the cgroup's charge, else of the resident anonymous memory
	PeakHeapBytes *sample.Bytes `json:"peak_heap_bytes"`    // greatest heap in use, live and not yet swept
	Moment        string        `json:"moment"`             // "kill", "peak", "last" or "time"
	At            string        `json:"at"`                 // the moment, RFC 3339
	Elapsed       float64       `json:"elapsed_seconds"`    // from the start to the end, or to the last sample
	Watched       bool          `json:"watched"`            // the program ran already: the start is that of its watch
	MomentElapsed float64       `json:"moment_seconds"`     // from the start to the moment
	Kernel        bool          `json:"killed_by_kernel"`
	// Stopped says why highwater stopped the program, "" if it did not.
	Stopped Stopped `json:"stopped"`
	// StopSignal is the signal it sent first for that, or passed on.
	StopSignal string `json:"stop_signal"`
	// Sentence says it in words: the program, what became of it, and why.
	Sentence string `json:"sentence"`
}

// Class names a kind of verdict.
type Class string

// The classes that this version can find.
const (
	Leak         Class = "leak"
	Goroutines   Class = "goroutine-leak"
	Processes    Class = "process-leak"
	Burst        Class = "burst"
	GCUnaware    Class = "gc-unaware"
	Native       Class = "native"
	PageCache    Class = "page-cache"
	Shmem        Class = "shmem"
	Churn        Class = "churn"
	IdleHeap     Class = "idle-heap"
	Fragmented   Class = "fragmentation"
	Untouched    Class = "untouched"
	Spiral       Class = "spiral"
	Thrash       Class = "thrash"
	Baseline     Class = "baseline"
	Healthy      Class = "healthy"
	Backlog      Class = "backlog"
	Inconclusive Class = "inconclusive"
)

// Confidence is how far a claim can be trusted.
type Confidence string

// The degrees of confidence.
const (
	High   Confidence = "high"
	Medium Confidence = "medium"
	Low    Confidence = "low"
)

// lower is the next lower confidence; low stays low.
func (k Confidence) lower() Confidence {
	if k == High {
		return Medium
	}
	return Low
}

// Verdict is the finding that explains the moment.
type Verdict struct {
	Class       Class      `json:"class"`
	Sentence    string     `json:"sentence"`
	Detail      string     `json:"detail"` // what kind of cause it is, in a few words: "A burst, not a leak."
	Confidence  Confidence `json:"confidence"`
	Reasons     []string   `json:"reasons"`          // of the confidence
	Sure        string     `json:"sure"`             // the confidence in a line: the level, one reason, what would raise it
	Fingerprint string     `json:"fingerprint"`      // "" where there is no cause to name
	Full        string     `json:"fingerprint_full"` // the same with 16 digits, for who has very many causes
	Seen        int        `json:"seen"`             // how many earlier recordings have the fingerprint
	Note        *Note      `json:"note,omitempty"`   // what somebody said of the cause; set by whoever keeps notes
	Culprit     *Culprit   `json:"culprit"`
	Why         []Why      `json:"why"`
	// Known and NotKnown are for an inconclusive verdict: what is certain and what
	// is missing. Next is the command that would get what is missing.
	Known    []string `json:"known"`
	NotKnown []string `json:"not_known"`
	Next     []string `json:"next"`
}

// Note is what somebody said of a cause.
type Note struct {
	Text     string `json:"text"`
	Accepted bool   `json:"accepted"` // known, and to stay
	At       string `json:"at"`       // RFC 3339
}

// Culprit is the line to blame.
type Culprit struct {
	sample.Place
	Bytes sample.Bytes `json:"bytes"`
	Role  string       `json:"role"` // "allocates", "retains", "native" or "config"
	// Hint means that goroutines stood there, no more; nobody recorded who asked for the memory, and Bytes is 0.
	Hint bool `json:"hint"`
	// Below is the line of a library, called from this one, that made the allocation; nil where
	// this line made it.
	Below *sample.Place `json:"below,omitempty"`
	// HeldBy is who kept it, where the heap was captured.
	HeldBy *HeldBy `json:"held_by,omitempty"`

	starts string // of goroutines, the function with their go statement
	inC    bool   // they are in a call of C
}

// Why is one step of the explanation, with the ids of its evidence.
type Why struct {
	Text     string   `json:"text"`
	Evidence []string `json:"evidence"`
	URL      string   `json:"url,omitempty"`
}

// Ledger is where the memory was: rows and the unexplained rest sum to the total.
type Ledger struct {
	TotalBytes       sample.Bytes `json:"total_bytes"`
	Rows             []LedgerRow  `json:"rows"`
	UnexplainedBytes int64        `json:"unexplained_bytes"`
	OfCgroup         bool         `json:"of_cgroup"`
	// UntouchedBytes are in live objects (in all, where nothing tells which are live) whose pages were never touched: no row has
	// them. 0 also where that is not known.
	UntouchedBytes sample.Bytes `json:"untouched_bytes"`
}

// LedgerRow is one disjoint part of the total.
type LedgerRow struct {
	Name        string       `json:"name"`
	Bytes       sample.Bytes `json:"bytes"`
	Reclaimable bool         `json:"reclaimable"`
	Parts       []RowPart    `json:"parts,omitempty"` // what it divides into, where that is known
	// AsOfGC says of the live heap that it is what the last GC found: it was not counted at the moment.
	AsOfGC bool `json:"as_of_last_gc,omitempty"`
}

// Holder is a line that allocated what was held at the moment.
type Holder struct {
	sample.Place
	Bytes       sample.Bytes `json:"bytes"`
	ErrorBytes  sample.Bytes `json:"error_bytes"` // one standard error of the sampling
	GrowthBytes int64        `json:"growth_bytes"`
	OwnCode     bool         `json:"own_code"`
	InFlight    int          `json:"in_flight"` // goroutines seen inside Function at the moment
}

// Sampling says what the holders' figures are.
type Sampling struct {
	// View is "live" (reached from the roots at the moment), "captured" (so at a capture near it), "published" (in use
	// by the last published profile) or "none".
	View        string       `json:"view"`
	Rate        int64        `json:"rate_bytes"`      // 1: every allocation; 0: not known, nor is the error
	TotalBytes  sample.Bytes `json:"total_bytes"`     // of all holders, those not listed too
	ErrorBytes  sample.Bytes `json:"error_bytes"`     // of that total
	GrowthBytes int64        `json:"growth_bytes"`    // of that total, since the baseline
	Others      int          `json:"others"`          // lines not listed
	Alone       bool         `json:"alone,omitempty"` // there is no baseline: growth is not known
}

// Fact is one piece of evidence. Values are amounts in bytes where their name
// ends in _bytes, else plain counts.
type Fact struct {
	ID     string           `json:"id"`
	Text   string           `json:"text"`
	Values map[string]int64 `json:"values"`
	// About is what the fact is of, "curve", "site", "goroutines": for whoever shows the
	// samples behind it.
	About string `json:"-"`
}

// RuledOut is a class that is not the truth, and why.
type RuledOut struct {
	Class    Class    `json:"class"`
	Name     string   `json:"name"` // of the class, as people read it
	Reason   string   `json:"reason"`
	Evidence []string `json:"evidence"`
}

// NoHelp is a change that does not help, and why.
type NoHelp struct {
	Text   string `json:"text"`
	Reason string `json:"reason"`
}

// Fix is one change to try. State is "untested", "predicted" or "proved". Command is
// what tests it; where it is a change of the code, once the program is rebuilt.
type Fix struct {
	ID      string `json:"id"`
	Text    string `json:"text"`
	Kind    string `json:"kind"` // "code", "config" or "limit"
	State   string `json:"state"`
	Outlook string `json:"outlook"` // what is predicted, in words; "" for untested
	Command string `json:"command"`
	// Setting is what is set for the program, "GOMEMLIMIT=241MiB"; "": nothing is. Limit
	// is the one to run under, 0: none.
	Setting string       `json:"setting"`
	Limit   sample.Bytes `json:"limit_bytes"`
}

// Gap is something that was not seen.
type Gap struct {
	What string `json:"what"`
	Why  string `json:"why"`
}
