package incontainer_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/decide/explain"
)

// caseTruth is what is true of a run, as the judge of the corpus reads it (corpus/truth).
type caseTruth struct {
	Family    string   `json:"family"`
	Name      string   `json:"name"`
	Faulty    bool     `json:"faulty"`
	Classes   []string `json:"classes"`
	File      string   `json:"file"`
	Lines     []int    `json:"lines"`
	NeedsLine bool     `json:"needs_line"`
	Says      []string `json:"says"`
	Trend     string   `json:"trend"`
	Run       struct {
		LimitKind string `json:"limit_kind"`
	} `json:"run"`
}

// join puts a run in a container into the corpus, with its truth: make containers has it judged there. A faulty
// program is of one class, and the lines that may be named are those of a source with the texts.
func join(t *testing.T, name, recording string, class explain.Class, source string, texts ...string) {
	t.Helper()
	dir := os.Getenv("HIGHWATER_CONTAINER_CORPUS")
	if dir == "" {
		return
	}
	c := caseTruth{Family: "container", Name: "container-" + name, Faulty: source != "", Classes: []string{string(class)}, NeedsLine: source != "",
		Trend: "unknown"}
	c.Run.LimitKind = "killed"
	if source != "" {
		c.File = "testprog/" + source
		for _, text := range texts {
			c.Lines = append(c.Lines, lineOf(t, source, text))
		}
	} else {
		c.Run.LimitKind, c.Classes = "far", append(c.Classes, string(explain.Inconclusive))
	}
	truth, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	parts := map[string][]byte{".truth.json": truth}
	for _, suffix := range []string{".hwm", ".hwm-wal"} { // a watcher that was killed leaves its log
		part, err := os.ReadFile(strings.TrimSuffix(recording, ".hwm") + suffix)
		if err == nil {
			parts[suffix] = part
		} else if suffix == ".hwm" {
			t.Fatal(err)
		}
	}
	for suffix, part := range parts {
		if err := os.WriteFile(filepath.Join(dir, c.Name+suffix), part, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// rateOf is how fast a program leaks, at most so fast that a watcher on a busy machine comes in time, and slowly where its run is
// to join the corpus: of a few seconds nobody can say whether it would have gone on.
func rateOf(rate string) string {
	if os.Getenv("HIGHWATER_CONTAINER_CORPUS") != "" {
		return "2MiB"
	}
	return rate
}
