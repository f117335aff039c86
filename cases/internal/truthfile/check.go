package truthfile

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// What a truth may say. The classes are those of product verdicts, the outcomes
// those of symptom.Outcome.
var (
	classes = []string{"leak", "goroutine-leak", "burst", "churn", "gc-unaware", "native", "fragmentation", "page-cache", "shmem",
		"idle-heap", "untouched", "spiral", "thrash", "baseline", "healthy"}
	outcomes  = []string{"alive", "killed", "livelock"}
	namesLine = []string{"must", "may", "must not"}
)

// mostSeconds is what a run may take.
const mostSeconds = 60

// Check compares the truth in dir with the program's source there and with the
// faults that it knows. It returns everything that does not agree, joined.
func Check(dir string, known ...string) error {
	t, err := Read(dir)
	if err != nil {
		return err
	}
	marks, err := Marks(dir)
	if err != nil {
		return err
	}
	var wrong []error
	for _, name := range known {
		if t.Fault(name) == nil {
			wrong = append(wrong, fmt.Errorf("%s knows no fault %s", FileName, name))
		}
	}
	for _, f := range t.Faults {
		wrong = append(wrong, f.complete())
		if f.Name == "none" {
			continue
		}
		if !slices.Contains(known, f.Name) {
			wrong = append(wrong, fmt.Errorf("%s: the program knows no such fault", f.Name))
		}
		wrong = append(wrong, f.at(marks[f.Name]))
	}
	return errors.Join(wrong...)
}

// Relocate rewrites the truth in dir with where the marks stand now.
func Relocate(dir string) error {
	t, err := Read(dir)
	if err != nil {
		return err
	}
	marks, err := Marks(dir)
	if err != nil {
		return err
	}
	for i := range t.Faults {
		if m, ok := marks[t.Faults[i].Name]; ok {
			t.Faults[i].Place, t.Faults[i].Seen = m.Fault, m.Also
		}
	}
	return t.Write(dir)
}

func (f *Fault) complete() error {
	if f.Effect == "" || f.Fix == "" || len(f.NotClaim) == 0 || len(f.Runs) == 0 {
		return fmt.Errorf("%s: effect, fix, must_not_claim and runs must all be said", f.Name)
	}
	for i, r := range f.Runs {
		if err := r.complete(); err != nil {
			return fmt.Errorf("%s, run %d: %w", f.Name, i+1, err)
		}
		if (r.Faulty == nil) != (f.Name == "none") {
			return fmt.Errorf("%s, run %d: faulty is said of faults only, and of all", f.Name, i+1)
		}
	}
	return nil
}

func (r *Run) complete() error {
	for _, c := range []string{r.Before, r.Beside, r.BesideReady, r.Command, r.Ready, r.Load} {
		if _, err := expand(c, func(string) (string, error) { return "x", nil }); err != nil {
			return err
		}
	}
	switch {
	case !strings.Contains(r.Command, "{fault}"):
		return errors.New("the command takes no {fault}")
	case r.Seconds < 1 || r.Seconds > mostSeconds:
		return fmt.Errorf("%d seconds; 1 to %d are a run", r.Seconds, mostSeconds)
	case r.Stay && r.Load != "":
		return errors.New("it has a load, and stays without")
	}
	if r.Faulty != nil {
		if err := r.Faulty.complete(); err != nil {
			return fmt.Errorf("faulty: %w", err)
		}
	}
	if err := r.Repaired.complete(); err != nil {
		return fmt.Errorf("repaired: %w", err)
	}
	return nil
}

func (v *Verdict) complete() error {
	if len(v.Outcomes) == 0 || len(v.Classes) == 0 || !slices.Contains(namesLine, v.NamesLine) {
		return fmt.Errorf("outcomes, classes and names_line (%s) must all be said", strings.Join(namesLine, ", "))
	}
	for _, o := range v.Outcomes {
		if !slices.Contains(outcomes, o) {
			return fmt.Errorf("no outcome is %q", o)
		}
	}
	for _, c := range v.Classes {
		if !slices.Contains(classes, c) {
			return fmt.Errorf("no class is %q", c)
		}
	}
	return nil
}

// at compares where the truth says the fault is with where its marks stand.
func (f *Fault) at(m Marked) error {
	if m.Fault == (Place{}) {
		return fmt.Errorf("%s: no line carries the comment %q", f.Name, faultPrefix+f.Name)
	}
	places, marks := append([]Place{f.Place}, f.Seen...), append([]Place{m.Fault}, m.Also...)
	if !slices.EqualFunc(places, marks, func(p, m Place) bool { return p.File == m.File && p.Line == m.Line && m.within(p.Function) }) {
		return fmt.Errorf("%s: the truth says %v, the marks stand at %v (UPDATE=1 go test rewrites it)", f.Name, places, marks)
	}
	return nil
}

// within says whether a function is the place's or one within it ("x.func1").
func (p Place) within(function string) bool {
	return function == p.Function || strings.HasPrefix(function, p.Function+".")
}
