package recording

import (
	"database/sql/driver"
	"fmt"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// MomentInfo is a moment without what makes it large.
type MomentInfo struct {
	ID        int64
	At        time.Time
	Kind      sample.MomentKind
	Usage     sample.Opt[sample.Bytes] // the cgroup's charge
	PageCache sample.Opt[sample.Bytes] // the part of it that can be taken back
	Processes []ProcessMomentInfo
}

// ProcessMomentInfo is one process of a moment.
type ProcessMomentInfo struct {
	Key      sample.ProcessKey
	Signal   int
	ExitCode sample.Opt[int]
	Profile  int64                    // 0: none
	Anon     sample.Opt[sample.Bytes] // resident without what is shared
}

// Moments are all moments, in the order in which they were recorded. In a cut
// recording they end before the first whose processes are not all there.
// The list is not the caller's to change.
func (r *Reader) Moments() ([]MomentInfo, error) {
	if r.listed.moments != nil {
		return r.listed.moments, nil
	}
	list, err := r.readMoments()
	if err == nil && !r.live {
		r.listed.moments = list
	}
	return list, err
}

func (r *Reader) readMoments() ([]MomentInfo, error) {
	processes := map[int64][]ProcessMomentInfo{}
	var list []MomentInfo
	err := r.rows(func(row []driver.Value) error {
		key, err := r.keyOf(row[1])
		if err != nil {
			return err
		}
		id := integer(row[0])
		p := ProcessMomentInfo{Key: key, Signal: int(integer(row[2])), ExitCode: exitCode(row[3]), Profile: integer(row[4])}
		if resident, ok := row[5].(int64); ok {
			p.Anon = sample.Some(sample.Bytes(max(0, resident-integer(row[6]))))
		}
		processes[id] = append(processes[id], p)
		return nil
	}, "SELECT moment, process, signal, exit_code, profile, resident, shared FROM process_moment ORDER BY id")
	if err != nil {
		return nil, err
	}
	err = r.rows(func(row []driver.Value) error {
		m := MomentInfo{ID: integer(row[0]), At: instantOf(row[1]), Kind: sample.MomentKind(str(row[2])), Processes: processes[integer(row[0])]}
		if n, ok := row[3].(int64); ok {
			m.Usage = sample.Some(sample.Bytes(n))
		}
		if n, ok := row[5].(int64); ok {
			m.PageCache = sample.Some(sample.Bytes(n))
		}
		if len(m.Processes) != int(integer(row[4])) {
			return r.behind(m.ID)
		}
		list = append(list, m)
		return nil
	}, "SELECT id, at, kind, usage, processes, page_cache FROM moment ORDER BY id")
	return list, err
}

// behind is how a query ends at a moment whose processes were not found: in a
// recording that is being written they came after the query for them.
func (r *Reader) behind(moment int64) error {
	if r.live {
		return errStop
	}
	return fmt.Errorf("processes of moment %d: %w", moment, ErrMissing)
}

func exitCode(v driver.Value) sample.Opt[int] {
	n, ok := v.(int64)
	if !ok {
		return sample.Opt[int]{}
	}
	return sample.Some(int(n))
}

// Moment is a moment in full. What a cut recording has lost of a process is nil,
// and its Incomplete says so.
func (r *Reader) Moment(id int64) (*sample.Moment, error) {
	var m *sample.Moment
	var first, count int64
	err := r.rows(func(row []driver.Value) error {
		m = &sample.Moment{At: instantOf(row[1]), Kind: sample.MomentKind(str(row[2])),
			Took: time.Duration(integer(row[3])), Stopped: time.Duration(integer(row[4]))}
		first, count = integer(row[5]), integer(row[6])
		m.Cgroup, row = takeCgroup(row[7:])
		m.CgroupAfter, _ = takeCgroup(row)
		return nil
	}, r.sel(&tableMoment)+" WHERE id = ?1", id)
	if err == nil && m != nil {
		err = r.processMoments(m, first, count)
	}
	if err == nil && (m == nil || int64(len(m.Processes)) != count) {
		err = fmt.Errorf("moment %d: %w", id, ErrMissing)
	}
	if err != nil {
		return nil, err
	}
	return m, nil
}

func (r *Reader) processMoments(m *sample.Moment, first, count int64) error {
	return r.rows(func(row []driver.Value) (err error) {
		p := sample.ProcessMoment{Signal: int(integer(row[3])), ExitCode: exitCode(row[4]), Incomplete: str(row[6])}
		if p.Key, err = r.keyOf(row[2]); err != nil {
			return err
		}
		if r.redactor != nil {
			p.Incomplete = r.redactor.reason(p.Incomplete)
		}
		profile, groups, number := integer(row[5]), integer(row[7]), integer(row[8])
		p.Resident, row = take(row[9:], residentColumns)
		p.Residency, row = take(row, residencyColumns)
		p.Go, row = take(row, runtimeColumns)
		p.Live, row = take(row, livenessColumns)
		if blob, ok := row[0].([]byte); ok && p.Live != nil {
			if p.Live.Sampled, err = unpackNumbers(r.zstd, blob); err != nil {
				return err
			}
		}
		if text, ok := row[2].(string); ok {
			if p.Metrics, err = r.metricsOf(instantOf(row[1]), text); err != nil {
				r.lose(&p, err, "runtime metrics")
			}
		}
		if malloc, ok := row[3].(int64); ok {
			if p.Malloc, err = r.malloc(malloc); err != nil {
				r.lose(&p, err, "what malloc said")
			}
		}
		p.ThreadStarts = strs[sample.ThreadStart](row[4])
		if profile != 0 {
			if p.Profile, err = r.Profile(profile); err != nil {
				r.lose(&p, err, "heap profile")
			}
		}
		if p.Goroutines, err = r.goroutines(groups, number); err != nil {
			r.lose(&p, err, "goroutines")
		}
		m.Processes = append(m.Processes, p)
		return nil
	}, r.sel(&tableProcessMoment)+" WHERE id BETWEEN ?1 AND ?2 ORDER BY id", first, first+count-1)
}

// lose says in a process's moment what could not be read of it.
func (r *Reader) lose(p *sample.ProcessMoment, err error, what string) {
	r.note(fmt.Errorf("%s: %w", what, err))
	if p.Incomplete != "" {
		p.Incomplete += "; "
	}
	p.Incomplete += "the recording is cut: " + what
}

// goroutines reads number groups from row first on, all or none.
func (r *Reader) goroutines(first, number int64) ([]sample.GoroutineGroup, error) {
	var list []sample.GoroutineGroup
	if number == 0 {
		return nil, nil
	}
	err := r.rows(func(row []driver.Value) error {
		g := sample.GoroutineGroup{State: str(row[2]), Reason: str(row[3]), Creator: uint64(integer(row[6])),
			Count: int(integer(row[8])), StackBytes: sample.Bytes(integer(row[9])), Oldest: time.Duration(integer(row[10])),
			Frames: strs[sample.Bytes](row[11]), Labels: strs[sample.LabelCount](row[12]), IDs: strs[uint64](row[14])}
		if r.redactor != nil {
			r.redactor.labels(g.Labels)
		}
		if n, ok := row[13].(int64); ok {
			g.Locked = sample.Some(int(n))
		}
		err := eachNumber(str(row[4]), func(pc uint64) { g.Stack = append(g.Stack, pc) })
		if stack, ok := row[5].(string); ok && err == nil {
			g.Where, err = r.stack(stack)
		}
		if row[7] != nil && err == nil {
			g.CreatedAt, err = r.locationOf(uint64(integer(row[7])))
		}
		if err == nil {
			list = append(list, g)
		}
		return err
	}, r.sel(&tableGoroutines)+" WHERE id BETWEEN ?1 AND ?2 ORDER BY id", first, first+number-1)
	if err == nil && int64(len(list)) != number {
		err = ErrMissing
	}
	if err != nil {
		return nil, err
	}
	return list, nil
}
