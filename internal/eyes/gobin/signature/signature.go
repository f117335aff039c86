// Package signature finds the variables of the Go runtime in executables that
// have no symbols: by the instructions of the runtime's own functions, whose
// names no strip removes.
//
// For each toolchain of a table, siggen noted which reference of which function
// names which variable ("the third operand of runtime.stkbucket that is relative
// to the program counter is mbuckets"). A program's own functions then vote, and
// an election that is not nearly unanimous is refused. A table serves its own
// minor version of Go only: in another one fields move inside the variables, and
// the votes are split or, worse, agree on a wrong address.
//
// It reads amd64 and arm64. It knows no ELF: who asks hands over the functions' code.
package signature

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

//go:generate go run ./siggen

// tables has a file for each minor version of Go and architecture,
// "tables/go1.26-amd64.txt.gz". After a
// comment its lines are:
//
//	toolchain ID VERSION EXPERIMENTS BUILD    "-" for no experiments; exe, pie, debug
//	func NAME REFS HASH IDS                   a function as the toolchains "0-2,5" compile it
//	VARIABLE REF TEXT ADDEND                  which of its references names a variable
//
//go:embed tables
var tables embed.FS

// Set is what one toolchain's runtime says of its variables.
type Set struct {
	Toolchain string // "go1.26.8", "go1.26.8 nogreenteagc"
	Exact     bool   // the toolchain asked for, not another patch of its minor version
	arch      string
	functions map[string][]*function
}

// function is a function as the toolchain compiles it in one of its builds.
type function struct {
	hash  uint32
	refs  int
	sites []site
}

// site is a reference that names a variable.
type site struct {
	variable string
	ref      int
	text     uint32
	addend   int64 // from the variable's start
}

// Find gives the set of a toolchain: that of its own patch, else of the nearest
// one of the same minor version with the same experiments ("-" for none), which may
// move fields. ok is false if none such was measured for the architecture.
func Find(arch string, minor, patch int, experiments string) (s *Set, ok bool) {
	f, err := tables.Open(fmt.Sprintf("tables/go1.%d-%s.txt.gz", minor, arch))
	if err != nil {
		return nil, false
	}
	defer f.Close()
	text, err := unzip(f)
	if err == nil {
		s, err = parse(text, patch, experiments)
	}
	if err != nil {
		panic(fmt.Sprintf("our own table of go1.%d for %s: %v", minor, arch, err))
	}
	if s == nil {
		return nil, false
	}
	s.arch = arch
	return s, true
}

func unzip(r io.Reader) ([]byte, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// parse reads the lines of the toolchain that is nearest to a patch; nil if none has
// the experiments.
func parse(text []byte, patch int, experiments string) (*Set, error) {
	ids, s := nearest(text, patch, experiments)
	if len(ids) == 0 {
		return nil, nil
	}
	var f *function // nil: of other toolchains
	for line := range bytes.Lines(text) {
		w := strings.Fields(string(line))
		switch {
		case len(w) == 5 && w[0] == "func":
			f = nil
			if slices.ContainsFunc(ids, func(id int) bool { return contains(w[4], id) }) {
				f = &function{refs: int(decimal(w[2])), hash: hex(w[3])}
				s.functions[w[1]] = append(s.functions[w[1]], f)
			}
		case len(w) == 4 && f != nil:
			f.sites = append(f.sites, site{w[0], int(decimal(w[1])), hex(w[2]), decimal(w[3])})
		}
	}
	if len(s.functions) == 0 {
		return nil, fmt.Errorf("no function of toolchains %v", ids)
	}
	return s, nil
}

// nearest chooses among the toolchain lines with the experiments; of two equally near
// patches the older. It gives the numbers of all the builds by that toolchain.
func nearest(text []byte, patch int, experiments string) (ids []int, s *Set) {
	s = &Set{functions: make(map[string][]*function)}
	best := 0
	for line := range bytes.Lines(text) {
		w := strings.Fields(string(line))
		if len(w) != 5 || w[0] != "toolchain" || w[3] != experiments {
			continue
		}
		_, last, _ := strings.Cut(strings.TrimPrefix(w[2], "go1."), ".")
		distance := 2 * (int(decimal(last)) - patch)
		if distance < 0 {
			distance = -distance - 1
		}
		if len(ids) == 0 || distance < best {
			best, ids = distance, nil
			s.Toolchain, s.Exact = strings.TrimSuffix(w[2]+" "+w[3], " -"), distance == 0
		}
		if distance == best {
			ids = append(ids, int(decimal(w[1])))
		}
	}
	return ids, s
}

// contains says whether an id is among ranges ("0-4,7").
func contains(ranges string, id int) bool {
	for r := range strings.SplitSeq(ranges, ",") {
		first, last, ok := strings.Cut(r, "-")
		if !ok {
			last = first
		}
		if int(decimal(first)) <= id && id <= int(decimal(last)) {
			return true
		}
	}
	return false
}

// decimal and hex read our own table.
func decimal(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		panic("signature table: no number: " + s)
	}
	return n
}

func hex(s string) uint32 {
	n, err := strconv.ParseUint(s, 16, 32)
	if err != nil {
		panic("signature table: no number: " + s)
	}
	return uint32(n)
}
