package pacer

import "github.com/highwater-go/highwater/internal/words/sample"

// Schema names the form of an Answer as JSON; docs/json.md describes it.
const Schema = "highwater.tune/1"

// Answer is what a recording says of other settings.
type Answer struct {
	Schema    string `json:"schema"`
	Recording string `json:"recording"`
	Program   string `json:"program"`
	GoVersion string `json:"go_version"`

	Grade Grade    `json:"grade"`
	Why   []string `json:"why"`
	// Recorded is the run as it was, Replay the model's run of the same setting.
	Recorded Seen `json:"recorded"`
	Replay   Seen `json:"replay"`

	// Floor is the resident set that no GOGC and no GOMEMLIMIT goes below.
	Floor    sample.Bytes `json:"floor_bytes"`
	Live     sample.Bytes `json:"live_bytes"`
	NonGo    sample.Bytes `json:"non_go_bytes"`
	Settings []Predicted  `json:"settings"`
	// Recommended is nil where nothing fits, or where the grade is refused.
	Recommended    *Recommended `json:"recommended"`
	NotRecommended string       `json:"not_recommended"` // why no GOMEMLIMIT is, "" where one is
	Smallest       *Smallest    `json:"smallest"`
}

// Grade is how far the predictions are to be believed.
type Grade string

// The grades. A refused answer has no settings.
const (
	High    Grade = "high"
	Medium  Grade = "medium"
	Low     Grade = "low"
	Refused Grade = "refused"
)

// Seen is a run: what was recorded, or the middle of what the model makes of it.
type Seen struct {
	PeakHeap sample.Bytes `json:"peak_heap_bytes"`
	Resident sample.Bytes `json:"resident_bytes"`
	GCs      int          `json:"gcs"`
}

// Cost is a class of the collector's work. It is no amount of CPU time.
type Cost string

// The classes: of the program's CPU time as the runtime books it, below 5 %, below
// 25 %, and above; of a program that is mostly idle, below 2 % and 10 % of all the
// CPU time that there was. In a spiral collections run back to back.
const (
	CostLow    Cost = "low"
	CostMedium Cost = "medium"
	CostHigh   Cost = "high"
	CostSpiral Cost = "spiral"
)

// Survival says whether a limit would hold.
type Survival string

// Uncertain means that the limit lies within what the run may need, or so little above it
// that the kernel would reclaim all the time (Thrash).
const (
	Survives  Survival = "yes"
	Dies      Survival = "no"
	Uncertain Survival = "uncertain"
)

// Predicted is one setting.
type Predicted struct {
	GOGC       *int32        `json:"gogc"` // null: off
	GOMEMLIMIT *sample.Bytes `json:"gomemlimit_bytes"`
	GCAt       string        `json:"gc_at,omitempty"`
	Limit      *sample.Bytes `json:"limit_bytes"`
	PeakHeap   Range         `json:"peak_heap_bytes"`
	Resident   Range         `json:"resident_bytes"`
	GCs        int           `json:"gcs"`
	Cost       Cost          `json:"gc_cost"`
	Times      float64       `json:"gc_cost_times"` // of the recorded setting's work
	Survives   Survival      `json:"survives"`
	Thrash     bool          `json:"thrash"`
	Recorded   bool          `json:"recorded"` // the setting of the recording
}

// Recommended is a setting for a limit.
type Recommended struct {
	GOGC       *int32       `json:"gogc"`
	GOMEMLIMIT sample.Bytes `json:"gomemlimit_bytes"`
	Limit      sample.Bytes `json:"limit_bytes"`
	Because    string       `json:"because"`
	Kubernetes string       `json:"kubernetes"`
	Systemd    string       `json:"systemd"`
	Docker     string       `json:"docker"`
	Shell      string       `json:"shell"`
}

// Smallest is the least limit that the run would fit, 5 % above what it may need.
// Zero: not known.
type Smallest struct {
	AsIs    sample.Bytes `json:"as_is_bytes"`
	Healthy sample.Bytes `json:"with_gomemlimit_bytes"`
	// Alive is where it still fits, but collects back to back.
	Alive sample.Bytes `json:"alive_bytes"`
}
