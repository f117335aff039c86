package watch

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
)

// shareTable gathers what tests of native memory found at the right line, for docs/research/native-builds.md.
type shareTable struct {
	mu sync.Mutex
	of map[string]float64 // by kind, release and build
}

var shares shareTable

func (s *shareTable) set(kind, version, build string, share float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == nil {
		s.of = map[string]float64{}
	}
	s.of[kind+"/"+version+"/"+build] = share
}

// cell is a share as the page has it, a dash where it was not measured.
func (s *shareTable) cell(kind, version, build string) string {
	share, ok := s.of[kind+"/"+version+"/"+build]
	if !ok {
		return "-"
	}
	return fmt.Sprintf("%.2f %%", 100*share)
}

// TestThePageOfSharesPerBuild measures all builds, one after the other, and writes the page that HIGHWATER_SHARES names; make
// native-shares sets it.
func TestThePageOfSharesPerBuild(t *testing.T) {
	to := os.Getenv("HIGHWATER_SHARES")
	hwtest.Need(t, func() error {
		if to == "" {
			return errors.New("measures for ten minutes: make native-shares")
		}
		return nil
	})
	t.Run("all", func(t *testing.T) { // ends when all of them have, that run at the same time too
		t.Run("faults", TestResidentGrowthIsFoundInProgramsOfEachVersion)
		t.Run("live", TestLiveNativeBytesAreFoundInProgramsOfEachVersion)
		t.Run("asked", TestWithJemallocTheLineThatAskedIsFoundWhereNothingIsReallocated)
	})
	if err := os.WriteFile(to, []byte(shares.page()), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (s *shareTable) page() string {
	builds := slices.Sorted(maps.Keys(nativeBuilds))
	var b strings.Builder
	b.WriteString("# Native memory at the right line, per build\n\n`make native-shares` runs programs of known native memory, built in each way, and writes this page: " +
		"the share of their bytes that is found\nat the line where they are made. Page faults: nine sites, one of 61 faults. Live probes: ten sites, every allocation.\n")
	for _, kind := range []struct{ name, words string }{{"page faults", "By sampled page faults"}, {"live", "By live probes"}} {
		versions := map[string]bool{}
		for key := range s.of {
			if parts := strings.Split(key, "/"); parts[0] == kind.name {
				versions[parts[1]] = true
			}
		}
		fmt.Fprintf(&b, "\n## %s\n\n| | %s |\n|---%s|\n", kind.words, strings.Join(builds, " | "), strings.Repeat("|---", len(builds)))
		for _, version := range slices.Sorted(maps.Keys(versions)) {
			fmt.Fprintf(&b, "| %s |", version)
			for _, build := range builds {
				fmt.Fprintf(&b, " %s |", s.cell(kind.name, version, build))
			}
			b.WriteString("\n")
		}
	}
	fmt.Fprintf(&b, "\nWith jemalloc, page faults count for the line that the kernel gave the page to. By the line that asked for the bytes it was %s without realloc, and %s with all nine\nsites: "+
		"jemalloc's realloc leaves pages that others get without a fault ([why](../native.md)).\n",
		s.cell("who asked", "still", "jemalloc"), s.cell("who asked", "", "jemalloc"))
	return b.String()
}
