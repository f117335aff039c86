// Package faults gives the programs of the cases their known faults, by the flag
// -fault.
//
// A program names its faults once, in the call of Flag, and asks Set.Has where
// it would do the wrong thing. What is true of each stands in truth.json beside
// the program: see package truthfile.
package faults

import (
	"flag"
	"fmt"
	"slices"
	"strings"
)

// Set is the faults that a program was asked to have. The zero value has none
// and is the repaired program.
type Set struct {
	known []string
	names []string
}

// Flag defines -fault on f. Its value is a comma-separated list of the known
// names; "none" and nothing at all are the repaired program.
func Flag(f *flag.FlagSet, known ...string) *Set {
	s := &Set{known: known}
	f.Var(s, "fault", "known `faults` to have, of: "+strings.Join(known, ", ")+" (none: the repaired program)")
	return s
}

// Of is a Set made without a command line, for tests.
func Of(names ...string) *Set { return &Set{names: names} }

// Has says whether the program is to have the fault. A nil Set has none.
func (s *Set) Has(name string) bool { return s != nil && slices.Contains(s.names, name) }

// String lists the faults as the flag takes them.
func (s *Set) String() string {
	if s == nil || len(s.names) == 0 {
		return "none"
	}
	return strings.Join(s.names, ",")
}

// Set takes the flag's value.
func (s *Set) Set(value string) error {
	s.names = nil
	for name := range strings.SplitSeq(value, ",") {
		if name == "" || name == "none" {
			continue
		}
		if !slices.Contains(s.known, name) {
			return fmt.Errorf("%q is no known fault; choose of: %s", name, strings.Join(s.known, ", "))
		}
		s.names = append(s.names, name)
	}
	return nil
}
