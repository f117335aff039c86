// Package fleet keeps what agents on many machines saw in one store, and answers the
// questions that only many programs together can answer: which kills there were and which
// of them are new, and which line grew most.
//
// A row is a struct of this file. Its fields are the table's columns, in their order, so
// that the tables of every store, what is sent to it and what it answers are one
// description (table.go). Rows have keys, and a row that is written twice is there once:
// an agent sends again whatever it has no answer for.
package fleet

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// ID is a hash that names a process, a stack or an incident.
type ID [16]byte

// String is the ID in hexadecimal digits, as commands print and take it.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// IsZero says that there is none.
func (id ID) IsZero() bool { return id == ID{} }

// hashOf is the first 16 bytes of a SHA-256 over parts, each with its length before it.
func hashOf(parts ...string) (id ID) {
	h := sha256.New()
	for _, p := range parts {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(p)))
		h.Write(n[:])
		h.Write([]byte(p))
	}
	copy(id[:], h.Sum(nil))
	return id
}

// The stacks that are none.
var (
	// AllStacks is the row of a process's whole heap, one for each hour: it says of how
	// many processes the others are.
	AllStacks = ID{}
	// OtherStacks is what the stacks beyond the bounds of an agent hold together.
	OtherStacks = ID{0: 0xff, 15: 0xff}
)

// Stack is where memory was allocated. Its ID is a hash of its frames, the same on every
// machine and for every build with the same source.
type Stack struct {
	Tenant   string    `col:"tenant" key:"1"`
	Stack    ID        `col:"stack" key:"2"`
	Function string    `col:"function"` // of the line to blame, heapdiff.Blame
	File     string    `col:"file"`
	Line     uint32    `col:"line"`
	Frames   string    `col:"frames"` // innermost first, "FUNCTION FILE:LINE" each on a line
	Written  time.Time `col:"written" version:"1"`
}

// Process is one life of a Go program on a node.
type Process struct {
	Tenant      string             `col:"tenant" key:"1"`
	Service     string             `col:"service" key:"2"`
	Process     ID                 `col:"process" key:"3"`
	Version     string             `col:"version"`
	BuildID     string             `col:"build_id"`
	Go          string             `col:"go"`
	Namespace   string             `col:"namespace"`
	Pod         string             `col:"pod"`
	Container   string             `col:"container"`
	ContainerID string             `col:"container_id"`
	Node        string             `col:"node"`
	PID         uint32             `col:"pid"`
	Started     time.Time          `col:"started"` // when it was first seen, where its start is not known
	Ended       sample.Opt[uint32] `col:"ended"`   // seconds since 1970; not seen: it runs, or nobody looked
	Limit       sample.Opt[uint64] `col:"mem_limit"`
	HeapProfile string             `col:"heap_profile"` // sample.HeapProfileState
	Agent       string             `col:"agent"`        // version of highwater
	Written     time.Time          `col:"written" version:"1"`
}

// Point is what a process took at one instant, one a minute. Amounts are bytes.
type Point struct {
	Tenant     string             `col:"tenant" key:"1"`
	Service    string             `col:"service" key:"2"`
	Process    ID                 `col:"process" key:"3"`
	At         time.Time          `col:"at" key:"4" day:"1"`
	Resident   sample.Opt[uint64] `col:"resident"`  // anonymous resident memory
	Usage      sample.Opt[uint64] `col:"usage"`     // the charge of its cgroup
	UsageMax   sample.Opt[uint64] `col:"usage_max"` // the greatest since the last row
	Limit      sample.Opt[uint64] `col:"mem_limit"`
	HeapLive   sample.Opt[uint64] `col:"heap_live"` // marked by the last collection
	HeapInUse  sample.Opt[uint64] `col:"heap_in_use"`
	GoLimit    sample.Opt[uint64] `col:"gomemlimit"` // that is in force; not seen: none is
	Goroutines sample.Opt[uint64] `col:"goroutines"`
	NumGC      sample.Opt[uint64] `col:"num_gc"`
	Written    time.Time          `col:"written" version:"1"`
}

// HeapHour is what one stack held in one process over an hour, by its heap profile, scaled
// by the profile's rate. A row is sent again as the hour goes on: the one with the latest
// Written counts.
type HeapHour struct {
	Tenant  string    `col:"tenant" key:"1"`
	Service string    `col:"service" key:"2"`
	Stack   ID        `col:"stack" key:"3"`
	Process ID        `col:"process" key:"4"`
	Hour    time.Time `col:"hour" key:"5" day:"1"`
	Version string    `col:"version"`
	// InUseSeconds is the sum over the hour of bytes in use times seconds, and Seconds
	// how long was looked: their quotient is the mean. Both can be summed.
	InUseSeconds uint64    `col:"inuse_seconds"`
	Seconds      uint32    `col:"seconds"`
	InUseMax     uint64    `col:"inuse_max"`
	InUseLast    uint64    `col:"inuse_last"`
	Written      time.Time `col:"written" version:"1"`
}

// HeapDay is what one stack held in all processes of a version over a day: sums of HeapHours,
// which Rollup makes and makes again.
type HeapDay struct {
	Tenant       string    `col:"tenant" key:"1"`
	Service      string    `col:"service" key:"2"`
	Stack        ID        `col:"stack" key:"3"`
	Version      string    `col:"version" key:"4"`
	Day          time.Time `col:"day" key:"5" day:"1"`
	InUseSeconds uint64    `col:"inuse_seconds"`
	Seconds      uint64    `col:"seconds"`
	Processes    uint64    `col:"processes"`
	InUseMax     uint64    `col:"inuse_max"` // of one process
	Written      time.Time `col:"written" version:"1"`
}

// Incident is one death or peak that somebody may want to know of.
type Incident struct {
	Tenant         string             `col:"tenant" key:"1"`
	Service        string             `col:"service" key:"2"`
	At             time.Time          `col:"at" key:"3"`
	Incident       ID                 `col:"incident" key:"4"` // hash of process, kind and time in milliseconds
	Kind           string             `col:"kind"`             // one of the Kinds
	Version        string             `col:"version"`
	Process        ID                 `col:"process"`
	Node           string             `col:"node"`
	Namespace      string             `col:"namespace"`
	Pod            string             `col:"pod"`
	Container      string             `col:"container"`
	Image          string             `col:"image"`       // of the container, as its engine was asked for it; "": not known
	Fingerprint    string             `col:"fingerprint"` // "": no cause is named
	Class          string             `col:"class"`       // explain.Class, or Unread
	Confidence     string             `col:"confidence"`
	Sentence       string             `col:"sentence"` // what happened
	Cause          string             `col:"cause"`    // why
	Function       string             `col:"function"`
	File           string             `col:"file"`
	Line           uint32             `col:"line"`
	Limit          sample.Opt[uint64] `col:"mem_limit"`
	Peak           sample.Opt[uint64] `col:"peak"`
	Ledger         string             `col:"ledger"`    // JSON: bytes by row
	Recording      string             `col:"recording"` // where it is; "": there is none
	RecordingBytes uint64             `col:"recording_bytes"`
	Tool           string             `col:"tool"`
	Written        time.Time          `col:"written" version:"1"`
}

// Kinds of incidents.
const (
	KindKill  = "kill"  // by the kernel, for memory
	KindCrash = "crash" // a panic, a fatal error, or a signal that it died by
	KindPeak  = "peak"  // it ended, or runs, and had come close to its limit
)

// Unread is the class of an incident whose recording could not be explained.
const Unread = "unread"

// ProcessID names one life of a process on one boot of one machine.
func ProcessID(bootID string, key sample.ProcessKey, buildID string) ID {
	var n [16]byte
	binary.BigEndian.PutUint64(n[:8], uint64(key.PID))
	binary.BigEndian.PutUint64(n[8:], key.Start)
	return hashOf(bootID, string(n[:]), buildID)
}

// IncidentID names what happened to a process at a time.
func IncidentID(process ID, kind string, at time.Time) ID {
	var ms [8]byte
	binary.BigEndian.PutUint64(ms[:], uint64(at.UnixMilli()))
	return hashOf(string(process[:]), kind, string(ms[:]))
}
