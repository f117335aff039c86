package explain

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestEachSceneHasItsVerdict(t *testing.T) {
	for name, want := range map[string]struct {
		class      Class
		confidence Confidence
		culprit    string // file:line, "" for none
	}{
		"leak":                            {Leak, High, "cache.go:57"},
		"slow leak, still running":        {Leak, High, "cache.go:57"},
		"leak in an endless loop of main": {Leak, Medium, "main.go:12"},
		"burst of uploads":                {Burst, High, "upload.go:172"},
		"burst in the first rise":         {Burst, Medium, "csv.go:88"},
		"garbage over the limit":          {GCUnaware, High, ""},
		"garbage, killed before the second full collection": {GCUnaware, High, ""},
		"garbage without a mark":                            {Inconclusive, Low, ""},
		"cgo leak":                                          {Native, High, "db.go:44"},
		"a file of 1 GiB written":                           {PageCache, High, ""},
		"steady and small":                                  {Healthy, High, ""},
		"no limit at all":                                   {Healthy, High, ""},
		"killed by somebody's SIGKILL":                      {Healthy, High, ""},
		"steady need above the limit":                       {Baseline, Medium, "index.go:31"},
		"tmpfs":                                             {Shmem, High, ""},
		"workers that were busy all along":                  {Inconclusive, Low, ""},
		"thousands of goroutines that never end":            {Inconclusive, Low, ""},
		"killed without a last breath":                      {Inconclusive, Low, ""},
		"nothing could be read":                             {Inconclusive, Low, ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := answer(t, name)
			if a.Verdict.Class != want.class || a.Verdict.Confidence != want.confidence {
				t.Errorf("verdict %s (%s), want %s (%s): %s", a.Verdict.Class, a.Verdict.Confidence, want.class, want.confidence, a.Verdict.Sentence)
			}
			got := ""
			if k := a.Verdict.Culprit; k != nil && k.File != "" {
				got = place(k.File, k.Line)
			}
			if !strings.HasSuffix(got, want.culprit) || (want.culprit == "") != (got == "") {
				t.Errorf("culprit %q, want %q", got, want.culprit)
			}
			checkAnswer(t, a)
		})
	}
}

func answer(t *testing.T, name string) *Answer {
	t.Helper()
	a, err := Explain(scenes[name]().Evidence, nil)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// checkAnswer holds what is true of every answer.
func checkAnswer(t *testing.T, a *Answer) {
	t.Helper()
	sum := a.Ledger.UnexplainedBytes
	for _, r := range a.Ledger.Rows {
		sum += int64(r.Bytes)
	}
	if sum != int64(a.Ledger.TotalBytes) {
		t.Errorf("the ledger's rows sum to %d of %d", sum, a.Ledger.TotalBytes)
	}
	ids := map[string]bool{}
	for _, f := range a.Evidence {
		ids[f.ID] = true
	}
	for _, w := range a.Verdict.Why {
		for _, id := range w.Evidence {
			if !ids[id] {
				t.Errorf("%q refers to %s, which is no evidence", w.Text, id)
			}
		}
	}
	text, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	var back map[string]any
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	for _, path := range nullLists(back, "") {
		t.Errorf("%s is null", path)
	}
	if a.Verdict.Sentence == "" || !strings.HasSuffix(a.Verdict.Sentence, ".") {
		t.Errorf("%q is no sentence", a.Verdict.Sentence)
	}
}

// mayBeNull are the members that product.md allows to be absent.
var mayBeNull = map[string]bool{".outcome.exit_code": true, ".outcome.limit_bytes": true, ".outcome.peak_bytes": true, ".outcome.peak_heap_bytes": true, ".verdict.culprit": true}

func nullLists(v any, path string) (out []string) {
	switch v := v.(type) {
	case nil:
		if !mayBeNull[path] {
			out = append(out, path)
		}
	case map[string]any:
		for k, x := range v {
			out = append(out, nullLists(x, path+"."+k)...)
		}
	case []any:
		for _, x := range v {
			out = append(out, nullLists(x, path+"[]")...)
		}
	}
	return out
}

type seen struct {
	n   int
	err error
}

func (s seen) Seen(string) (int, error) { return s.n, s.err }

func TestHistorySaysHowOftenACauseWasSeen(t *testing.T) {
	a, err := Explain(scenes["leak"]().Evidence, seen{n: 3})
	if err != nil || a.Verdict.Seen != 3 {
		t.Errorf("seen %d, %v, want 3", a.Verdict.Seen, err)
	}
	if _, err := Explain(scenes["leak"]().Evidence, seen{err: errors.New("disk")}); err == nil {
		t.Error("a history that cannot be read is not reported")
	}
}

func TestAFingerprintOutlivesLinesMachinesAndLoads(t *testing.T) {
	one := scenes["leak"]()
	other := scenes["leak"]()
	other.Sites[0].Line, other.Sites[0].File, other.Sites[0].Bytes = 99, "/other/cache.go", 180*mib
	other.Recording = "shop-77.hwm"
	a, _ := Explain(one.Evidence, nil)
	b, _ := Explain(other.Evidence, nil)
	if a.Verdict.Fingerprint == "" || a.Verdict.Fingerprint != b.Verdict.Fingerprint {
		t.Errorf("fingerprints %q and %q", a.Verdict.Fingerprint, b.Verdict.Fingerprint)
	}
	other.Sites[0].Function = "example.org/shop/cache.(*Cache).Get"
	c, _ := Explain(other.Evidence, nil)
	if c.Verdict.Fingerprint == a.Verdict.Fingerprint {
		t.Error("two functions have one fingerprint")
	}
}
