// Package recording keeps what a watch saw in one file, and reads it back: a
// SQLite database of append-only tables, described in docs/recording.md.
//
// A Writer belongs to the watch and to one goroutine. A Reader changes nothing
// on the disk, follows a recording that is still being written, and reads as
// much as there is of one that was cut or whose writer was killed. What the
// figures mean is not known here: package explain does that.
package recording

import (
	"errors"
	"fmt"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// The header of a recording: PRAGMA application_id is "HwRc" in ASCII, and PRAGMA
// user_version is 1000 * major + minor. A new minor version adds tables and
// columns; a new major version changes what is there.
const (
	applicationID = 0x48775263
	Major, Minor  = 1, 11
)

// ErrNotRecording says that a file is something else.
var ErrNotRecording = errors.New("not a highwater recording")

// ErrClosed is what a Writer returns that was closed, or that has already
// returned the error that ended it.
var ErrClosed = errors.New("the recording is closed")

// ErrMissing says that a recording does not hold what was asked for: it never
// did, or it was in the part that is cut off.
var ErrMissing = errors.New("not in the recording")

// ErrDamaged says that bytes of a recording are not those that were written.
var ErrDamaged = errors.New("the recording is damaged")

// ErrNewer says that a recording has a major version that this reader does not
// know.
type ErrNewer struct{ Major, Minor int }

func (e ErrNewer) Error() string {
	return fmt.Sprintf("the recording has format %d.%d and this highwater reads %d.x: a newer highwater is needed", e.Major, e.Minor, Major)
}

// ErrCut says that a recording is so short that nothing of it can be read.
type ErrCut struct{ Have, Want int64 }

func (e ErrCut) Error() string {
	if e.Want == 0 {
		return fmt.Sprintf("the recording is cut: only %d bytes are there, too few to read anything", e.Have)
	}
	return fmt.Sprintf("the recording is cut: %d of %d bytes are there, too few to read anything", e.Have, e.Want)
}

// ErrFull says that there is no room left where the recording is written. It is
// an ENOSPC or EDQUOT of the system, or SQLite's own limit.
type ErrFull struct{ Dir string }

func (e ErrFull) Error() string { return "no space left on device, in " + e.Dir }

// Meta says where and how a recording was made. Empty and zero members were not
// known.
type Meta struct {
	Tool     string   // version of highwater
	Command  []string // what it leaves out is the caller's to say
	Host     string
	BootID   string
	Kernel   string
	CPUs     int
	PageSize int
	Limit    sample.Opt[sample.Bytes] // the limit that was asked for
	// At is when the watch began. Times with a monotonic clock reading are
	// stored relative to it, so that a step of the wall clock leaves them in order.
	At time.Time
	// More are further rows of the table meta.
	More map[string]string
}

// The keys of the table meta that a Meta's members have.
const (
	metaTool     = "tool"
	metaCommand  = "command"
	metaHost     = "host"
	metaBootID   = "boot_id"
	metaKernel   = "kernel"
	metaCPUs     = "cpus"
	metaPageSize = "page_size"
	metaLimit    = "limit"
	metaStarted  = "started_at"
	metaClosed   = "closed_at"
	metaSealed   = "sealed" // how the pages' checksums are made, which lie behind them
)
