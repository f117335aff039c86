// Package trial compares ways to run a program under a real memory limit, and
// searches for the smallest limit that one survives: what was run, in which order,
// what each run needed, and what may be concluded from it.
//
// It starts nothing. Whoever does hands over what was measured; package report
// prints the answers.
package trial

import "github.com/highwater-go/highwater/internal/words/sample"

// Schema names the form of an Answer as JSON; docs/json.md describes it.
const Schema = "highwater.try/1"

// Ended says how a run ended.
type Ended string

// The ends. Finished came to its own end, or to that of its load or its time; all
// others are lost: what they would have needed is not known.
const (
	Finished   Ended = "finished"
	Killed     Ended = "killed"     // by the kernel, for memory
	Livelocked Ended = "livelocked" // alive, and nothing moved any more
	TimedOut   Ended = "timed-out"
	Failed     Ended = "failed"      // by a code of its own, or of its load
	OverBudget Ended = "over-budget" // it needed more than was expected
	Crawled    Ended = "crawled"     // it came to its end, and took far more CPU time than without a limit: fit alone says so
)

// Lost reports whether the run did not do what it was meant to.
func (e Ended) Lost() bool { return e != Finished }

// Variant is one way to run the program. The first of a trial is the base.
type Variant struct {
	Name    string `json:"name"`
	Command string `json:"command"` // as it was given
	// Note says what it is: a commit and its subject, "" for one that was given.
	Note string `json:"note"`
}

// Run is one run of a variant and what it needed.
type Run struct {
	Variant   string `json:"variant"`
	N         int    `json:"n"`         // counted for each variant from 1
	Recording string `json:"recording"` // "": it was not kept, see Kept
	Ended     Ended  `json:"ended"`
	Why       string `json:"why"` // it was lost; "" for one that finished
	// Values are the figures by name (see Figures). What was not seen is absent. A
	// lost run's are as far as it came.
	Values map[string]float64 `json:"values"`
}

// Machine is what a trial is true for, beside the load and the binaries.
type Machine struct {
	CPUs   int    `json:"cpus"`
	Kernel string `json:"kernel"`
	// Busy is the share of the CPUs that others took between the runs, when nothing of
	// the trial ran; null: not known.
	Busy *float64 `json:"busy"`
}

// BusyShare is from where on others' work is said to be in the figures.
const BusyShare = 0.2

// Setup is how all runs of a trial were made.
type Setup struct {
	Program string       `json:"program"`
	Limit   sample.Bytes `json:"limit_bytes"` // 0: none
	Expect  string       `json:"expect"`      // "": nothing
	Load    string       `json:"load"`        // "": none
	// Compare means that there is no fault to reproduce, only figures to compare.
	Compare bool    `json:"compare"`
	Machine Machine `json:"machine"`
}
