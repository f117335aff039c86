// Command siggen writes the tables by which package signature finds the variables
// of the Go runtime. For each toolchain it builds two small programs with
// symbols and notes which references of the runtime's functions name which
// variable. From the folder of package signature:
//
//	go run ./siggen -add go1.28.0             a new release
//	go run ./siggen -add go1.28.0+greenteagc  with a GOEXPERIMENT
//	go generate                               reads every toolchain of the tables anew
//
// It needs each toolchain (cmd/go downloads the missing ones) and, the first
// time, a minute of compiling the standard library for each experiment. What it
// writes is the same on every machine.
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// toolchain is one whose runtime is read.
type toolchain struct {
	minor, patch int
	experiment   string // GOEXPERIMENT, "" for the default
}

// file is a table: of one minor version on one architecture.
type file struct {
	minor int
	arch  string // GOARCH
}

func (f file) name() string { return fmt.Sprintf("go1.%d-%s.txt.gz", f.minor, f.arch) }

func (tc toolchain) version() string { return fmt.Sprintf("go1.%d.%d", tc.minor, tc.patch) }

func compare(a, b toolchain) int {
	return cmp.Or(cmp.Compare(a.minor, b.minor), cmp.Compare(a.patch, b.patch), cmp.Compare(a.experiment, b.experiment))
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("siggen: ")
	dir := flag.String("o", "tables", "directory of the tables")
	add := flag.String("add", "", "read this `version[+experiment]` besides those of its table; several with commas")
	arches := flag.String("arch", "amd64,arm64", "architectures to read")
	flag.Parse()
	for arch := range strings.SplitSeq(*arches, ",") {
		if err := generate(*dir, arch, *add); err != nil {
			log.Fatal(err)
		}
	}
}

// generate writes the tables of the minor versions that are added to, or, if
// nothing is added, all tables.
func generate(dir, arch, add string) error {
	tables, err := known(dir, arch)
	if err != nil {
		return err
	}
	changed := map[int]bool{}
	for text := range strings.FieldsFuncSeq(add, func(r rune) bool { return r == ',' }) {
		tc, err := parseToolchain(text)
		if err != nil {
			return err
		}
		changed[tc.minor] = true
		tables[tc.minor] = append(tables[tc.minor], tc)
	}
	for minor, tcs := range tables {
		if add != "" && !changed[minor] {
			continue
		}
		slices.SortFunc(tcs, compare)
		if err := write(dir, file{minor, arch}, slices.Compact(tcs)); err != nil {
			return err
		}
	}
	return nil
}

// known are the toolchains that the tables have, by minor version.
func known(dir, arch string) (map[int][]toolchain, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*-"+arch+".txt.gz"))
	if err != nil {
		return nil, err
	}
	all := map[int][]toolchain{}
	for _, path := range paths {
		text, err := unzip(path)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(text) {
			w := strings.Fields(line)
			if len(w) != 5 || w[0] != "toolchain" {
				continue
			}
			tc, err := parseToolchain(strings.TrimSuffix(w[2]+"+"+w[3], "+-"))
			if err != nil {
				return nil, err
			}
			all[tc.minor] = append(all[tc.minor], tc)
		}
	}
	return all, nil
}

// parseToolchain reads "go1.26.8+nogreenteagc".
func parseToolchain(s string) (tc toolchain, err error) {
	version, experiment, _ := strings.Cut(s, "+")
	minor, patch, ok := strings.Cut(strings.TrimPrefix(version, "go1."), ".")
	if !ok {
		return tc, fmt.Errorf("%s: want a release, as go1.26.8", s)
	}
	var err1, err2 error
	tc.experiment = experiment
	tc.minor, err1 = strconv.Atoi(minor)
	tc.patch, err2 = strconv.Atoi(patch)
	return tc, errors.Join(err1, err2)
}

func write(dir string, f file, tcs []toolchain) error {
	var tab table
	for _, tc := range tcs {
		for _, b := range builds {
			functions, err := measure(tc, f.arch, b.flags)
			if err != nil {
				return fmt.Errorf("%s %s %s %s: %w", tc.version(), tc.experiment, f.arch, b.name, err)
			}
			tab.add(tc, b.name, functions)
			log.Printf("%s %s %s %s: %d functions", tc.version(), tc.experiment, f.arch, b.name, len(functions))
		}
	}
	text, err := tab.zipped()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, f.name()), text, 0o644)
}
