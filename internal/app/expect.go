package app

import (
	"github.com/highwater-go/highwater/internal/measure/budget"
)

// metaExpect is the key of a recording's meta for what --expect said.
const metaExpect = "expect"

// ExpectFlag is how much memory somebody expects, as given.
type ExpectFlag string

// Budget is nil where nothing is expected.
func (f ExpectFlag) Budget() (*budget.Budget, error) {
	if f == "" {
		return nil, nil
	}
	b, err := budget.Parse(string(f))
	if err != nil {
		return nil, Usagef("--expect 500MiB, or --expect heap=300MiB,native=50MiB", "--expect: %w", err)
	}
	return b, nil
}

func (f ExpectFlag) describe(more map[string]string) {
	if f != "" {
		more[metaExpect] = string(f)
	}
}
