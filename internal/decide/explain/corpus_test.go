package explain

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"testing"
)

// vector is what was measured of a recording of the corpus (corpus/freeze), and what is true of it.
type vector struct {
	Name     string
	Faulty   bool
	Classes  []Class
	Features map[string]float64
}

func (v vector) measured() features {
	f := features{}
	for name, value := range v.Features {
		f[name] = Feature{Name: name, Value: value}
	}
	return f
}

func vectors(t *testing.T) (list []vector) {
	t.Helper()
	text, err := os.ReadFile("testdata/corpus.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		var v vector
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		list = append(list, v)
	}
	return list
}

// stances is what the weighed evidence says of each class on each recording, and how sure it is.
func stances(list []vector) (out []string) {
	for _, v := range list {
		f := v.measured()
		text := v.Name
		for _, r := range rules() {
			if r.Evidence == nil {
				continue
			}
			w := weigh(f, r.Evidence)
			switch {
			case w.score >= speakScore.v():
				text += " speaks, " + string(w.confidence())
			case w.score >= openScore.v():
				text += " open"
			default:
				text += " silent"
			}
		}
		out = append(out, text)
	}
	return out
}

// unpinned are thresholds of clauses that no recording of the corpus lies near to, each with the reason.
var unpinned = map[threshold]string{
	isSo: "yes or no", one: "counts", none: "counts",
	longRun: "no recording of the corpus is ten minutes long",
}

// TestEveryThresholdOfTheEvidenceIsPinned moves each by a fifth, up and down: the corpus must notice
// one of them at least.
func TestEveryThresholdOfTheEvidenceIsPinned(t *testing.T) {
	list := vectors(t)
	before := stances(list)
	for _, at := range evidenceThresholds() {
		if _, known := unpinned[at]; known {
			continue
		}
		was := thresholds[at].Value
		noticed := false
		for _, by := range []float64{0.8, 1.2} {
			thresholds[at].Value = was * by
			noticed = noticed || !slices.Equal(stances(list), before)
		}
		thresholds[at].Value = was
		if !noticed {
			t.Errorf("%s can be moved by a fifth, and no recording of the corpus is judged differently", thresholds[at].Name)
		}
	}
}

// evidenceThresholds are those that clauses use, and the score from which a class speaks.
func evidenceThresholds() []threshold {
	list := []threshold{speakScore}
	for _, r := range rules() {
		for _, k := range r.Evidence {
			if !slices.Contains(list, k.bound) {
				list = append(list, k.bound)
			}
		}
	}
	return list
}

func TestEveryClauseWeighsAFeatureThatIsMeasured(t *testing.T) {
	for _, r := range rules() {
		for _, k := range r.Evidence {
			if !slices.ContainsFunc(measures, func(m measure) bool { return m.name == k.feature }) {
				t.Errorf("%s weighs %q, which is not measured", r.Class, k.feature)
			}
		}
	}
}

func TestThresholdsHaveNamesUnitsAndOrigins(t *testing.T) {
	seen := map[string]bool{}
	for i, k := range thresholds {
		if k.Name == "" || k.Unit == "" || k.Origin == "" || seen[k.Name] {
			t.Errorf("threshold %d: %+v", i, k)
		}
		seen[k.Name] = true
	}
}

func TestEveryClassHasItsWords(t *testing.T) {
	for _, r := range rules() {
		if r.Name == "" || r.Noun == "" || r.Judge == nil || r.Page.Truth == "" {
			t.Errorf("%+v", r)
		}
	}
}

// TestTheLeakOfTheCorpusOutweighsTheInnocent holds what the evidence alone must say: where a
// leak is the only right class it does not weigh less than where nothing is wrong.
func TestTheLeakOfTheCorpusOutweighsTheInnocent(t *testing.T) {
	var faulty, innocent, spoke, accused int
	for _, v := range vectors(t) {
		score := weigh(v.measured(), leakEvidence).score
		grown := v.Features["growth.bytes"] >= leastGrown.v() && v.Features["growth.share"] >= leastGrownShare.v()
		switch {
		case v.Faulty && len(v.Classes) == 1 && v.Classes[0] == Leak && grown:
			faulty++
			if score >= speakScore.v() {
				spoke++
			}
		case !v.Faulty && grown:
			innocent++
			if score >= speakScore.v() && v.Features["growth.slowing"] == 0 { // else it is left undecided (fillsUp)
				accused++
			}
		}
	}
	if faulty < 10 || innocent < 10 || spoke*4 < faulty*3 || accused*10 > innocent {
		t.Errorf("of %d leaks %d are told by their evidence, of %d innocent growths %d are accused", faulty, spoke, innocent, accused)
	}
}
