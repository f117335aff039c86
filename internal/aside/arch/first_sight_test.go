package arch

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var firstSight = regexp.MustCompile(`(?m)^\| [^|*]+ \| (\d+) of (\d+) \| (\d+) of (\d+) \|$`)

// What the README says of programs that nobody tuned the answers to is what docs/truth.md counts, set by set.
func TestTheREADMESumsUpFirstSight(t *testing.T) {
	truth, err := os.ReadFile("../../../docs/truth.md")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(truth), "### All of these in one table")
	table, _, _ = strings.Cut(table, "\n## ")
	sets := firstSight.FindAllStringSubmatch(table, -1)
	if !found || len(sets) < 21 {
		t.Fatalf("%d sets", len(sets))
	}
	var sum, last [4]int
	for i, set := range sets {
		for k := range sum {
			n, _ := strconv.Atoi(set[k+1])
			if sum[k] += n; i >= len(sets)-2 {
				last[k] += n
			}
		}
	}
	said := strings.Join(strings.Fields(string(readme)), " ")
	for _, want := range []string{
		fmt.Sprintf("%d of %d in %d sets of small services", sum[0], sum[1], len(sets)),
		fmt.Sprintf("of the last %d, %d", last[1], last[0]),
		fmt.Sprintf("%d of %d innocent runs, of the last %d, %s", sum[2], sum[3], last[3], noneOr(last[2])),
	} {
		if !strings.Contains(said, want) {
			t.Errorf("README.md does not say %q", want)
		}
	}
	total := fmt.Sprintf("| **all** | **%d of %d** (%d %%) | **%d of %d** |", sum[0], sum[1], 100*sum[0]/sum[1], sum[2], sum[3])
	if !strings.Contains(table, total) {
		t.Errorf("docs/truth.md does not say %q", total)
	}
}

func noneOr(n int) string {
	if words := []string{"none", "one", "two", "three", "four"}; n < len(words) {
		return words[n]
	}
	return strconv.Itoa(n)
}
