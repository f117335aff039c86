package gobin

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// toolchain is one line of the table of layouts.
type toolchain struct {
	id           int
	arch         string // GOARCH
	minor, patch int
	experiments  string // sorted, comma-separated; "-" for none
}

// toolchains are those measured, in order of version: the first lines of the
// table, which are read once.
var toolchains = sync.OnceValue(func() []toolchain {
	var all []toolchain
	for line := range layoutLines() {
		w := strings.Fields(line)
		if len(w) == 5 && w[0] == "toolchain" {
			minor, patch, _ := parseVersion(w[2])
			all = append(all, toolchain{int(number(w[1])), w[4], minor, patch, w[3]})
		} else if len(all) > 0 {
			break
		}
	}
	return all
})

// findToolchains gives the measured toolchains that bracket this one; what they
// agree on holds for it.
func findToolchains(arch, version string, experiments []string) ([]int, error) {
	minor, patch, ok := parseVersion(version)
	if !ok {
		return nil, fmt.Errorf("built by %s, which is no release of Go: %w", version, ErrUnsupportedVersion)
	}
	all := slices.DeleteFunc(slices.Clone(toolchains()), func(t toolchain) bool { return t.minor != minor || t.arch != arch })
	if len(all) == 0 {
		return nil, fmt.Errorf("built by %s: %w", version, ErrUnsupportedVersion)
	}
	exp := experimentKey(experiments)
	all = slices.DeleteFunc(all, func(t toolchain) bool { return t.experiments != exp })
	if len(all) == 0 {
		return nil, fmt.Errorf("built by %s with GOEXPERIMENT=%s: %w", version, exp, ErrUnsupportedExperiment)
	}
	return bracket(all, patch), nil
}

// bracket is the measured patch itself, else the two around it, else all: of a
// patch newer than all measured ones no more is known than what never moved.
func bracket(all []toolchain, patch int) []int {
	i := slices.IndexFunc(all, func(t toolchain) bool { return t.patch >= patch })
	switch {
	case i >= 0 && all[i].patch == patch:
		all = all[i : i+1]
	case i > 0:
		all = all[i-1 : i+1]
	}
	ids := make([]int, len(all))
	for i, t := range all {
		ids[i] = t.id
	}
	return ids
}

func experimentKey(experiments []string) string {
	if len(experiments) == 0 {
		return "-"
	}
	return strings.Join(slices.Sorted(slices.Values(experiments)), ",")
}

// parseVersion reads a release's version, "go1.26.8". Release candidates,
// development and vendors' versions are none: their runtimes are their own.
func parseVersion(v string) (minor, patch int, ok bool) {
	rest, ok := strings.CutPrefix(v, "go1.")
	if !ok {
		return 0, 0, false
	}
	a, b, ok := strings.Cut(rest, ".")
	if !ok {
		b = "0" // "go1.20": to 1.20 the first release had no patch
	}
	minor, err1 := strconv.Atoi(a)
	patch, err2 := strconv.Atoi(b)
	return minor, patch, err1 == nil && err2 == nil && minor >= 0 && patch >= 0
}
