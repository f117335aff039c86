// Package replay keeps answers for a while.
package replay

import (
	"maps"
	"sync"
)

type entry[V any] struct {
	value  V
	number int
}

// Store keeps values by key until some hundred others have come.
type Store[V any] struct {
	mu      sync.Mutex
	items   map[string]entry[V]
	number  int
	newest  int
	inPlace bool
}

// New gives a store that is to keep the newest values.
func New[V any](newest int, inPlace bool) *Store[V] {
	return &Store[V]{items: map[string]entry[V]{}, newest: newest, inPlace: inPlace}
}

// Get gives the value of key.
func (s *Store[V]) Get(key string) (v V, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.items[key]
	return e.value, ok
}

// Put keeps v, and sweeps now and then.
func (s *Store[V]) Put(key string, v V) {
	s.mu.Lock()
	s.number++
	s.items[key] = entry[V]{v, s.number} // truth: keeps
	due, before := s.number%100 == 0, s.number-s.newest
	s.mu.Unlock()
	if due {
		s.sweep(before)
	}
}

func (s *Store[V]) sweep(before int) {
	s.mu.Lock()
	items := s.items
	if s.inPlace {
		defer s.mu.Unlock()
	} else {
		items = maps.Clone(s.items) // truth: copies
		s.mu.Unlock()
	}
	for key, e := range items {
		if e.number <= before {
			delete(items, key)
		}
	}
}
