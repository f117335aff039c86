// Build makes every program of this corpus twice, with the faulty and with the repaired version of
// its module, as NAME-before and NAME-after:
//
//	cd corpus/known/build && go run . -o DIR [NAME...]
//
// It compiles with the go command that it finds, without cgo, and changes nothing but DIR.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

func main() {
	out := flag.String("o", "", "directory for the programs")
	from := flag.String("from", "..", "the folder corpus/known")
	flag.Parse()
	if err := run(*from, *out, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(from, out string, only []string) error {
	if out == "" {
		return fmt.Errorf("no directory for the programs: give one with -o DIR")
	}
	out, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return fmt.Errorf("make the directory for the programs: %w", err)
	}
	names, err := programs(from, only)
	if err != nil {
		return err
	}
	for _, name := range names {
		for _, version := range []string{"before", "after"} {
			if err := build(filepath.Join(from, name), version, filepath.Join(out, name+"-"+version)); err != nil {
				return fmt.Errorf("build %s, %s: %w", name, version, err)
			}
		}
	}
	return nil
}

// programs are the names of the folders with a truth.json; those in only, if it names some.
func programs(from string, only []string) ([]string, error) {
	truths, err := filepath.Glob(filepath.Join(from, "*", "truth.json"))
	if err != nil {
		return nil, err
	}
	var all []string
	for _, t := range truths {
		all = append(all, filepath.Base(filepath.Dir(t)))
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s has no folder with a truth.json: give corpus/known with -from", from)
	}
	for _, name := range only {
		if !slices.Contains(all, name) {
			return nil, fmt.Errorf("no program %q: there are %v", name, all)
		}
	}
	if len(only) > 0 {
		return only, nil
	}
	return all, nil
}

// build compiles the module in dir with the requirements of version.mod.
func build(dir, version, out string) error {
	cmd := exec.Command("go", "build", "-modfile="+version+".mod", "-o", out, ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=")
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	return cmd.Run()
}
