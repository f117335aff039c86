// Package memo remembers what a function gave.
package memo

import "sync"

// Func calls Call once for each key.
type Func[K comparable, V any] struct {
	Call func(K) V

	mu      sync.Mutex
	results map[K]V
	hits    int
}

// Get gives the value of k, of an earlier call where there was one.
func (f *Func[K, V]) Get(k K) V {
	f.mu.Lock()
	defer f.mu.Unlock()
	if v, ok := f.results[k]; ok {
		f.hits++
		return v
	}
	v := f.Call(k) // truth: calls
	if f.results == nil {
		f.results = map[K]V{}
	}
	f.results[k] = v // truth: keeps
	return v
}

// Hits counts the calls that were not needed.
func (f *Func[K, V]) Hits() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.hits
}
