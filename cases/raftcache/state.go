package main

import (
	"cmp"
	"encoding/gob"
	"io"
	"maps"
	"slices"
	"sync"
)

// state is what the cluster keeps. Every node has the same, because each
// applies the same commands in the same order, with the leader's clock: times
// are arguments, in milliseconds since 1970.
type state struct {
	mu sync.RWMutex
	data
}

// data is the part of state that a snapshot holds.
type data struct {
	Values map[string]value
	Boards map[string]map[string]float64 // ranking -> member -> score
	Hits   map[string][]second           // counter -> seconds with hits, oldest first
}

type value struct {
	Bytes   string
	Expires int64 // 0: never
}

type second struct{ Unix, Count int64 }

// hitsKept is how many seconds a counter looks back at most.
const hitsKept = 3600

func newState() *state {
	return &state{data: data{Values: map[string]value{}, Boards: map[string]map[string]float64{}, Hits: map[string][]second{}}}
}

func (s *state) set(key, v string, expires int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Values[key] = value{v, expires}
}

// get returns a value that has not expired, and when it will.
func (s *state) get(key string, now int64) (v value, ok bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	v, ok = s.Values[key]
	return v, ok && !v.expired(now)
}

func (v value) expired(now int64) bool { return v.Expires != 0 && v.Expires <= now }

// del removes whatever has one of the names, and says how many there were.
func (s *state) del(keys []string, now int64) (n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range keys {
		v, isValue := s.Values[k]
		_, isBoard := s.Boards[k]
		_, isCounter := s.Hits[k]
		if isValue && !v.expired(now) || isBoard || isCounter {
			n++
		}
		delete(s.Values, k)
		delete(s.Boards, k)
		delete(s.Hits, k)
	}
	return n
}

// sweep drops expired values. That nobody can see, so each node does it by its
// own clock.
func (s *state) sweep(now int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.Values, func(_ string, v value) bool { return v.expired(now) })
}

func (s *state) size(now int64) (n int64) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, v := range s.Values {
		if !v.expired(now) {
			n++
		}
	}
	return n + int64(len(s.Boards)) + int64(len(s.Hits))
}

// raise adds to a member's score in a ranking and returns the new score.
func (s *state) raise(board, member string, by float64) float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Boards[board] == nil {
		s.Boards[board] = map[string]float64{}
	}
	s.Boards[board][member] += by
	return s.Boards[board][member]
}

type ranked struct {
	Member string
	Score  float64
}

// ranking returns the members, best first; equal scores by name, last first,
// as Redis does.
func (s *state) ranking(board string) []ranked {
	s.mu.RLock()
	defer s.mu.RUnlock()
	all := make([]ranked, 0, len(s.Boards[board]))
	for m, score := range s.Boards[board] {
		all = append(all, ranked{m, score})
	}
	slices.SortFunc(all, func(a, b ranked) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.Member, a.Member)) })
	return all
}

// hit counts one for a counter and forgets what it keeps no longer.
func (s *state) hit(key string, now int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	unix, h := now/1000, s.Hits[key]
	for len(h) > 0 && h[0].Unix <= unix-hitsKept {
		h = h[1:]
	}
	if last := len(h) - 1; last >= 0 && h[last].Unix >= unix { // a new leader's clock may be behind
		h[last].Count++
	} else {
		h = append(h, second{unix, 1})
	}
	s.Hits[key] = h
}

// hits counts those of the last so many seconds, the present one included.
func (s *state) hits(key string, seconds, now int64) (n int64) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, h := range slices.Backward(s.Hits[key]) {
		if h.Unix <= now/1000-seconds {
			break
		}
		n += h.Count
	}
	return n
}

// write writes a snapshot. Writers wait meanwhile; the state is small.
func (s *state) write(w io.Writer) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return gob.NewEncoder(w).Encode(s.data)
}

// read replaces everything by a snapshot.
func (s *state) read(r io.Reader) error {
	fresh := newState()
	if err := gob.NewDecoder(r).Decode(&fresh.data); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.data = fresh.data
	return nil
}
