// Residuals writes the table of what the collector's model was off by, which its
// intervals are made of:
//
//	(cd cases && go run ./tuning -highwater ../bin/highwater -dir DIR) > docs/research/tune.md
//	go run ./internal/measure/pacer/residuals DIR > internal/measure/pacer/residuals.csv
//
// DIR holds a folder for each program: base.hwm, from which is predicted, and the same
// work under other settings, SETTING.N.hwm. On the standard error it says how the
// intervals do for each program that they have not seen.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/highwater-go/highwater/internal/measure/pacer"
	"github.com/highwater-go/highwater/internal/record/recording"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "residuals: which folders? residuals DIR...")
		os.Exit(2)
	}
	if err := write(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "residuals:", err)
		os.Exit(1)
	}
}

func write(dirs []string) error {
	var all []pacer.OfProgram
	for _, dir := range dirs {
		bases, err := filepath.Glob(filepath.Join(dir, "*", "base.hwm"))
		if err != nil {
			return err
		}
		for _, base := range bases {
			one, err := read(base)
			if err != nil {
				return err
			}
			all = append(all, one)
		}
	}
	fmt.Print(pacer.Table(all))
	for _, line := range pacer.LeftOut(all) {
		fmt.Fprintln(os.Stderr, line)
	}
	return nil
}

// read holds one program's recordings against each other.
func read(base string) (one pacer.OfProgram, err error) {
	one.Program = filepath.Base(filepath.Dir(base))
	from, err := load(base)
	if err != nil {
		return one, err
	}
	files, err := filepath.Glob(filepath.Join(filepath.Dir(base), "*.[0-9].hwm"))
	if err != nil {
		return one, err
	}
	var others []*pacer.History
	for _, file := range files {
		other, err := load(file)
		if err != nil {
			return one, err
		}
		others = append(others, other)
	}
	one.Residuals = pacer.Residuals(from, others)
	return one, nil
}

func load(path string) (*pacer.History, error) {
	r, err := recording.Open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	h, err := pacer.Load(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return h, nil
}
