package recording

import (
	"database/sql/driver"
	"fmt"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// ProfileInfo is a heap profile without its counts.
type ProfileInfo struct {
	ID int64
	At time.Time
}

// Profiles are the heap profiles of the last program that the process ran, those
// of moments too, in the order of time. The list is not the caller's to change.
func (r *Reader) Profiles(key sample.ProcessKey) ([]ProfileInfo, error) {
	if list, known := r.listed.profiles[key]; known {
		return list, nil
	}
	list, err := r.profilesOf(key, tableProfile.name)
	if err == nil && !r.live {
		if r.listed.profiles == nil {
			r.listed.profiles = map[sample.ProcessKey][]ProfileInfo{}
		}
		r.listed.profiles[key] = list
	}
	return list, err
}

// ProfilesAbout is Profiles of about so many rows, thinned as SamplesAbout thins: of
// a process that lived for a short part of a long recording there may be none.
func (r *Reader) ProfilesAbout(most int64, key sample.ProcessKey) ([]ProfileInfo, error) {
	from, err := r.picked(&tableProfile, most, 4)
	if err != nil {
		return nil, err
	}
	return r.profilesOf(key, from)
}

// ProfilesBetween is Profiles of a stretch of time, at most about so many evenly; of
// those before and after it some may be among them.
func (r *Reader) ProfilesBetween(from, to time.Time, most int64, key sample.ProcessKey) ([]ProfileInfo, error) {
	rows, err := r.between(&tableProfile, from, to, most, 4)
	if err != nil {
		return nil, err
	}
	return r.profilesOf(key, rows)
}

// profilesOf reads them from what stands after FROM, which gives rows in the order
// of their numbers.
func (r *Reader) profilesOf(key sample.ProcessKey, from string) ([]ProfileInfo, error) {
	id, err := r.lastOf(key)
	if err != nil {
		return nil, err
	}
	var list []ProfileInfo
	err = r.rows(func(row []driver.Value) error {
		list = append(list, ProfileInfo{integer(row[0]), instantOf(row[1])})
		return nil
	}, "SELECT id, at FROM "+from+" WHERE process = ?1", id)
	return list, err
}

// IsOfLast says whether a profile is of the last program that the process ran.
func (r *Reader) IsOfLast(id int64, key sample.ProcessKey) (is bool, err error) {
	last, err := r.lastOf(key)
	if err != nil {
		return false, err
	}
	err = r.rows(func(row []driver.Value) error {
		is = integer(row[0]) == last
		return nil
	}, "SELECT process FROM heap_profile WHERE id = ?1", id)
	return is, err
}

// ProfileAt is the process's last profile at or before a time.
func (r *Reader) ProfileAt(key sample.ProcessKey, at time.Time) (*sample.HeapProfile, error) {
	info, err := r.ProfileBefore(key, at)
	if err != nil {
		return nil, err
	}
	return r.Profile(info.ID)
}

// ProfileBefore finds the last of Profiles at or before a time; ErrMissing: there is
// none.
func (r *Reader) ProfileBefore(key sample.ProcessKey, at time.Time) (ProfileInfo, error) {
	after, err := r.firstAt(tableProfile.name, at.UnixNano()+1)
	if err != nil {
		return ProfileInfo{}, err
	}
	return r.oneProfile(key, at, fmt.Sprintf("id < %d AND at <= %d ORDER BY id DESC", after+fewProfiles, at.UnixNano()))
}

// fewProfiles is how far from the order of time rows may be: the profiles of one
// moment's processes, and a death's that waited.
const fewProfiles = 64

// FirstProfile is the first of Profiles; ErrMissing: there is none.
func (r *Reader) FirstProfile(key sample.ProcessKey) (ProfileInfo, error) {
	return r.oneProfile(key, time.Time{}, "true ORDER BY id")
}

func (r *Reader) oneProfile(key sample.ProcessKey, at time.Time, which string) (p ProfileInfo, err error) {
	id, err := r.lastOf(key)
	if err != nil {
		return p, err
	}
	err = r.rows(func(row []driver.Value) error {
		p = ProfileInfo{integer(row[0]), instantOf(row[1])}
		return nil
	}, "SELECT id, at FROM heap_profile WHERE process = ?1 AND "+which+" LIMIT 1", id)
	if err == nil && p.ID == 0 {
		err = fmt.Errorf("heap profile of process %d at %s: %w", key.PID, at.Format("15:04:05"), ErrMissing)
	}
	return p, err
}

// Profile is a heap profile by its number. Its counts belong to SitesOf, number
// by number.
func (r *Reader) Profile(id int64) (*sample.HeapProfile, error) {
	p, base, blob, n, err := r.profileRow(id)
	if err != nil {
		return nil, err
	}
	var key []sample.BucketCounts
	if base != 0 {
		kp, kbase, kblob, kn, err := r.profileRow(base)
		if err != nil || kbase != 0 {
			return nil, fmt.Errorf("heap profile %d: key frame %d: %w", id, base, ErrMissing)
		}
		if kp.Counts, err = unpackCounts(r.zstd, kblob, kn, nil); err != nil {
			return nil, fmt.Errorf("heap profile %d: %w", base, err)
		}
		key = kp.Counts
	}
	if p.Counts, err = unpackCounts(r.zstd, blob, n, key); err != nil {
		return nil, fmt.Errorf("heap profile %d: %w", id, err)
	}
	return p, nil
}

func (r *Reader) profileRow(id int64) (p *sample.HeapProfile, base int64, blob []byte, sites int, err error) {
	err = r.rows(func(row []driver.Value) error {
		p = &sample.HeapProfile{At: instantOf(row[1]), Rate: integer(row[3]), Cycle: uint32(integer(row[4]))}
		base = integer(row[6])
		blob, _ = row[7].([]byte)
		if n := integer(row[5]); 0 <= n && n <= maxSites {
			sites = int(n)
		} else {
			return errColumns
		}
		return nil
	}, r.sel(&tableProfile)+" WHERE id = ?1", id)
	if err == nil && p == nil {
		err = ErrMissing
	}
	if err != nil {
		err = fmt.Errorf("heap profile %d: %w", id, err)
	}
	return p, base, blob, sites, err
}
