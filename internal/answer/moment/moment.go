// Package moment reads one moment of a recording with the heap profile that its process had then: what
// a comparison of two, a listing of source and a page start from. It judges nothing; explain does.
package moment

import (
	"errors"
	"fmt"
	"time"

	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/measure/heapdiff"
	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// Profiled is one moment of a recording with the subject's heap profile as it was
// sampled.
type Profiled struct {
	*explain.Evidence
	Path string // of the recording
	// Profile is read in the view heapdiff.Now. It has no counts where there is
	// none at the moment nor before it; First is when the first one comes then.
	Profile heapdiff.Profile
	// View is "live" (what a mark reached), "published" (in use by the program's
	// own profile) or "none".
	View string
	// Taken is when the profile was, First when the process's first was.
	Taken, First time.Time

	profile int64 // number of the profile, 0: none
}

// Load reads a moment as explain.LoadOf does (pid 0: as explain.Load), with its profile. A
// subject that is not nil is the process to look at, if the moment holds it.
func Load(r *recording.Reader, path, at string, pid int, subject *sample.ProcessKey) (*Profiled, error) {
	e, err := explain.LoadOf(r, path, at, pid)
	if err != nil {
		return nil, err
	}
	return Of(r, path, e, subject)
}

// Of is the moment whose evidence was loaded before.
func Of(r *recording.Reader, path string, e *explain.Evidence, subject *sample.ProcessKey) (*Profiled, error) {
	if subject != nil {
		for _, p := range e.Moment.Processes {
			if p.Key == *subject {
				e.Subject = p.Key
			}
		}
	}
	s := &Profiled{Evidence: e, Path: path, View: "none"}
	if err := s.readProfile(r); err != nil {
		return nil, fmt.Errorf("explain %s: %w", e.Recording, err)
	}
	return s, nil
}

// readProfile takes the moment's own profile, else the last before it.
func (s *Profiled) readProfile(r *recording.Reader) error {
	first, err := r.FirstProfile(s.Subject)
	if errors.Is(err, recording.ErrMissing) {
		return nil
	}
	if err != nil {
		return err
	}
	s.First = first.At
	at, err := r.ProfileBefore(s.Subject, s.Moment.At)
	m := s.SubjectMoment()
	if m != nil && m.Profile != nil {
		if own, failed := r.ProfileBefore(s.Subject, m.Profile.At); failed == nil && own.At.Equal(m.Profile.At) {
			at, err = own, nil
		}
	}
	if errors.Is(err, recording.ErrMissing) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.read(r, at.ID, m)
}

// read reads a profile: as what the mark reached where it is the moment's own and
// there was a mark.
func (s *Profiled) read(r *recording.Reader, id int64, m *sample.ProcessMoment) error {
	p, err := r.Profile(id)
	if err != nil {
		return err
	}
	if s.Profile.Sites, err = r.SitesOf(id); err != nil {
		return err
	}
	s.Taken, s.profile = p.At, id
	if m != nil && m.Profile != nil && m.Profile.At.Equal(p.At) && m.Live != nil && m.Live.Sampled != nil {
		s.View, s.Profile.HeapProfile = "live", heapdiff.Live(p, m.Live.Sampled)
		return nil
	}
	s.View, s.Profile.HeapProfile = "published", heapdiff.AsPublished(p)
	return nil
}

// Module is the path of the subject's main module, "" if it is not known.
func (s *Profiled) Module() string {
	if p := s.ProgramOf(s.Subject); p != nil && p.Go != nil {
		return p.Go.Module
	}
	return ""
}

// Program is what the subject ran; without a name where that is not known.
func (s *Profiled) Program() sample.Program {
	if p := s.ProgramOf(s.Subject); p != nil {
		return *p
	}
	return sample.Program{Key: s.Subject}
}

// Baseline is the profile that growth is counted from, as Explain does: the floor
// before the last rise. Nil: there is none before the moment's own.
func (s *Profiled) Baseline(r *recording.Reader) (*sample.HeapProfile, error) {
	if s.profile == 0 {
		return nil, nil
	}
	p, err := s.Evidence.Baseline(r, s.profile, s.Profile.Sites)
	if err != nil || p == nil || !p.At.Before(s.Taken) {
		return nil, err
	}
	return heapdiff.AsPublished(p), nil
}
