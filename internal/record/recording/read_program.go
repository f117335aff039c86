package recording

import (
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// process is a row of the table process.
type process struct {
	program sample.Program
	known   bool // not only its key
}

// location is a row of the table location.
type location struct {
	address uint64
	frames  []sample.Frame
	whole   bool // all its frames are in the recording
}

// Programs are the programs that the watched processes ran, in the order in which
// they were first seen; an exec adds one under the same key.
func (r *Reader) Programs() ([]sample.Program, error) {
	if err := r.loadProcesses(); err != nil {
		return nil, err
	}
	var list []sample.Program
	for _, p := range r.processes {
		if p.known {
			list = append(list, p.program)
		}
	}
	return list, nil
}

// loadProcesses reads the rows of the table process that are new since the last
// call. Row numbers have no holes, so that they are indices, too.
func (r *Reader) loadProcesses() error {
	return r.rows(func(row []driver.Value) error {
		if row[0] != int64(len(r.processes)+1) {
			return errStop
		}
		p := processRow(row[1:])
		if r.redactor != nil {
			p.program = r.redactor.program(p.program)
		}
		r.processes = append(r.processes, p)
		return nil
	}, r.sel(&tableProcess)+" WHERE id > ?1 ORDER BY id", int64(len(r.processes)))
}

// processRow reads a row: host and boot_id, which meta has too, are passed over.
func processRow(row []driver.Value) process {
	p := process{program: sample.Program{
		Key:    sample.ProcessKey{PID: int(integer(row[2])), Start: uint64(integer(row[3]))},
		Parent: int(integer(row[4])), Name: str(row[5]), Exe: str(row[6]), Args: strs[string](row[7]),
		HeapProfile: sample.HeapProfileState(str(row[20])), WhyNot: str(row[21]),
	}, known: row[20] != nil}
	if row[8] != nil {
		p.program.Go = &sample.GoProgram{
			Version: str(row[8]), Experiments: strs[string](row[9]), Module: str(row[10]), ModuleVersion: str(row[11]),
			MainPackage: str(row[12]), Revision: str(row[13]), BuildID: str(row[14]), Arch: str(row[15]),
			PIE: integer(row[16]) != 0, CGO: integer(row[17]) != 0, Stripped: integer(row[18]) != 0, Deps: strs[sample.Module](row[19]), FoundBy: str(row[22]),
		}
	}
	return p
}

// keyOf is the key of a process by its row number, the zero key for NULL. Within
// a query it sees what the query sees, a row written a moment ago too.
func (r *Reader) keyOf(id driver.Value) (sample.ProcessKey, error) {
	if id == nil {
		return sample.ProcessKey{}, nil
	}
	n := integer(id)
	if n > int64(len(r.processes)) {
		if err := r.loadProcesses(); err != nil {
			return sample.ProcessKey{}, err
		}
	}
	if n < 1 || n > int64(len(r.processes)) {
		return sample.ProcessKey{}, fmt.Errorf("row %d of table process: %w", n, ErrMissing)
	}
	return r.processes[n-1].program.Key, nil
}

// lastOf is the row number of the last program that a process ran.
func (r *Reader) lastOf(key sample.ProcessKey) (int64, error) {
	if err := r.loadProcesses(); err != nil {
		return 0, err
	}
	for i := len(r.processes) - 1; i >= 0; i-- {
		if r.processes[i].program.Key == key {
			return int64(i + 1), nil
		}
	}
	return 0, fmt.Errorf("process %d: %w", key.PID, ErrMissing)
}

// Sites are the allocation sites of the last program that the process ran, by
// their number. Those whose stack is not whole in a cut recording, and all after
// them, are left out.
func (r *Reader) Sites(key sample.ProcessKey) ([]sample.Site, error) {
	id, err := r.lastOf(key)
	if err != nil {
		return nil, err
	}
	return r.sitesOf(id)
}

// SitesOf are the sites that a profile's Counts belong to: those of Sites, unless
// the process has become another program since.
func (r *Reader) SitesOf(profile int64) ([]sample.Site, error) {
	id, err := r.db.integer("SELECT process FROM heap_profile WHERE id = ?1", profile)
	if err != nil {
		return nil, fmt.Errorf("profile %d: %w", profile, err)
	}
	return r.sitesOf(id)
}

func (r *Reader) sitesOf(process int64) ([]sample.Site, error) {
	if err := r.loadLocations(); err != nil {
		return nil, err
	}
	sites := []sample.Site{}
	err := r.rows(func(row []driver.Value) error {
		stack, err := r.stack(str(row[2]))
		if err == nil && row[0] != int64(len(sites)) {
			err = ErrMissing
		}
		if err != nil {
			return fmt.Errorf("site %d: %w", len(sites), err)
		}
		sites = append(sites, sample.Site{Stack: stack, Size: sample.Bytes(integer(row[1])), Hidden: int(integer(row[3]))})
		return nil
	}, "SELECT number, size, stack, hidden FROM site WHERE process = ?1 ORDER BY id", process)
	return sites, err
}

// loadLocations reads the rows of frame and location that are new. Both are kept:
// every stack is made of them.
func (r *Reader) loadLocations() error {
	err := r.rows(func(row []driver.Value) error {
		if row[0] != int64(len(r.frames)+1) {
			return errStop
		}
		f := sample.Frame{Func: str(row[2]), File: str(row[3]), Line: int(integer(row[4])), StartLine: int(integer(row[5]))}
		if r.redactor != nil {
			f = r.redactor.frame(f)
		}
		r.frames = append(r.frames, f)
		return nil
	}, r.sel(&tableFrame)+" WHERE id > ?1 ORDER BY id", int64(len(r.frames)))
	if err != nil {
		return err
	}
	return r.rows(func(row []driver.Value) error {
		if row[0] != int64(len(r.locations)+1) {
			return errStop
		}
		r.locations = append(r.locations, r.location(uint64(integer(row[1])), str(row[2])))
		return nil
	}, r.sel(&tableLocation)+" WHERE id > ?1 ORDER BY id", int64(len(r.locations)))
}

func (r *Reader) location(address uint64, frames string) location {
	l := location{address: address, whole: true}
	err := eachNumber(frames, func(id uint64) {
		if id < 1 || id > uint64(len(r.frames)) {
			l.whole = false
			return
		}
		l.frames = append(l.frames, r.frames[id-1])
	})
	l.whole = l.whole && err == nil
	return l
}

// stack reads a JSON array of location numbers. The frames are shared.
func (r *Reader) stack(text string) ([]sample.Location, error) {
	var stack []sample.Location
	var missing error
	err := eachNumber(text, func(id uint64) {
		l, err := r.locationOf(id)
		stack = append(stack, l)
		missing = errors.Join(missing, err)
	})
	return stack, errors.Join(err, missing)
}

// locationOf is a location by its row number.
func (r *Reader) locationOf(id uint64) (sample.Location, error) {
	if id > uint64(len(r.locations)) {
		if err := r.loadLocations(); err != nil {
			return sample.Location{}, err
		}
	}
	if id < 1 || id > uint64(len(r.locations)) || !r.locations[id-1].whole {
		return sample.Location{}, fmt.Errorf("row %d of table location: %w", id, ErrMissing)
	}
	l := r.locations[id-1]
	return sample.Location{Address: l.address, Frames: l.frames}, nil
}

// eachNumber reads a JSON array of whole numbers as a Writer makes it, without
// spaces: stacks are most of what Sites reads, and encoding/json takes 20 times as
// long.
func eachNumber(text string, each func(uint64)) error {
	if len(text) < 2 || text[0] != '[' || text[len(text)-1] != ']' {
		return errNumbers
	}
	text = text[1 : len(text)-1]
	for i := 0; i < len(text); i++ {
		start, v := i, uint64(0)
		for ; i < len(text) && '0' <= text[i] && text[i] <= '9'; i++ {
			v = v*10 + uint64(text[i]-'0')
		}
		last := i == len(text)
		if i == start || i-start > 20 || !last && (text[i] != ',' || i == len(text)-1) {
			return errNumbers
		}
		each(v)
	}
	return nil
}

var errNumbers = errors.New("no array of numbers")

func integer(v driver.Value) int64 {
	n, _ := v.(int64)
	return n
}

func str(v driver.Value) string {
	s, _ := v.(string)
	return s
}

// strs reads a JSON array, nil for NULL and for what is none.
func strs[T any](v driver.Value) []T {
	var list []T
	if s, ok := v.(string); ok {
		_ = json.Unmarshal([]byte(s), &list)
	}
	return list
}
