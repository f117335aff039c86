package explain

import (
	"strings"
	"testing"
)

// A GOMEMLIMIT is offered where none is set, without a command where it would not help;
// where one is set, a lower one is offered only if it would.
func TestALowerGOMEMLIMITIsOfferedOnlyWhereItHelps(t *testing.T) {
	for _, c := range []struct {
		scene            string
		set              int64
		offered, command bool
	}{
		{"leak", 0, true, false},
		{"leak", 250 * int64(mib), false, false},
		{"garbage over the limit", 0, true, true},
		{"garbage over the limit", 255 * int64(mib), true, true},
	} {
		s := scenes[c.scene]()
		if c.set > 0 {
			s.p.Go.MemoryLimit = c.set
		}
		a, err := Explain(s.Evidence, nil)
		if err != nil {
			t.Fatal(err)
		}
		offered, command := false, false
		for _, f := range a.Fixes {
			if f.Kind == "config" {
				offered, command = true, f.Command != ""
			}
		}
		if offered != c.offered || command != c.command {
			t.Errorf("%s with GOMEMLIMIT %d: offered %v, with a command %v; %s", c.scene, c.set, offered, command, a.Verdict.Class)
		}
	}
}

// TestWhatToRunNextIsACommand: with the collector off a GOMEMLIMIT is the next thing to
// try, but not where what is live needs more than it.
func TestWhatToRunNextIsACommand(t *testing.T) {
	bounded := 0
	for name, scene := range scenes {
		s := scene()
		if s.p == nil || s.p.Go == nil {
			continue
		}
		s.p.Go.GOGC = -1
		c := newCase(s.Evidence)
		for _, command := range c.nextCommands() {
			if command == "" {
				t.Errorf("%s: an empty command", name)
			}
			if strings.HasPrefix(command, "GOMEMLIMIT=") {
				bounded++
			}
		}
	}
	if bounded == 0 {
		t.Error("no scene has a GOMEMLIMIT to try")
	}
}
