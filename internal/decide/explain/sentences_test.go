package explain

import (
	"fmt"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/highwater-go/highwater/internal/aside/hwtest/recorded"
	"github.com/highwater-go/highwater/internal/measure/budget"
	"github.com/highwater-go/highwater/internal/measure/latency"
)

// sentencesFile has every sentence that an answer can have, to be read in one sitting.
const sentencesFile = "../../../docs/sentences.md"

// book is what answers say, by the place in an answer, each sentence once.
type book map[string]map[string]bool

// add notes texts; those that differ in figures only are one.
func (b book) add(chapter string, texts ...string) {
	if b[chapter] == nil {
		b[chapter] = map[string]bool{}
	}
	for _, text := range texts {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		like := sameWords(text)
		if !slices.ContainsFunc(slices.Collect(maps.Keys(b[chapter])), func(k string) bool { return sameWords(k) == like }) {
			b[chapter][text] = true
		}
	}
}

var figures = regexp.MustCompile(`\d[\d.,]*( ([KMG]i)?B\b)?|[\w./()*-]+\.go:\d+|inside \S+|\w+\.\(?[\w.()*]+`)

// sameWords is a text without its figures and lines.
func sameWords(text string) string { return figures.ReplaceAllString(text, "#") }

// chapters are the places of an answer, in its order.
var chapters = []string{"What became of the program", "Cause", "Why", "Sure?", "Reasons of the confidence", "Known", "Unknown", "Fixes",
	"Won't help, or not predicted",
	"Not seen", "Ruled out, because", "Work, requests, expectation", "Evidence", "Advice"}

func (b book) answer(a *Answer) {
	v := a.Verdict
	b.add(chapters[0], a.Outcome.Sentence)
	b.add(chapters[1], v.Detail+" "+v.Sentence)
	for _, w := range v.Why {
		b.add(chapters[2], w.Text)
	}
	b.add(chapters[3], v.Sure)
	if v.Class != Inconclusive {
		b.add(chapters[4], v.Reasons...)
	}
	b.add(chapters[5], v.Known...)
	b.add(chapters[6], v.NotKnown...)
	for _, f := range a.Fixes {
		b.add(chapters[7], strings.TrimSuffix(f.Text+". "+capital(f.State)+": "+f.Outlook, ". Untested: "))
	}
	for _, n := range a.WontHelp {
		b.add(chapters[8], n.Text+": "+n.Reason)
	}
	b.add(chapters[8], a.NotPredicted)
	for _, g := range a.Gaps {
		b.add(chapters[9], g.What+": "+g.Why)
	}
	for _, r := range a.RuledOut {
		b.add(chapters[10], r.Name+": "+r.Reason)
	}
	if a.Work != nil {
		b.add(chapters[11], a.Work.Sentence)
	}
	for _, f := range a.Evidence {
		b.add(chapters[12], f.Text)
	}
}

// everySentence is from all scenes, and from the tables that clauses, advices and causes are in.
func everySentence(t *testing.T) book {
	b := book{}
	runs := maps.Clone(scenes)
	for name, q := range quiet {
		runs[name] = q.run
	}
	for _, name := range slices.Sorted(maps.Keys(runs)) {
		a, err := Explain(runs[name]().Evidence, nil)
		if err != nil {
			t.Fatal(err)
		}
		b.answer(a)
	}
	b.asked(t)
	for _, r := range rules() {
		for _, k := range r.Evidence {
			b.add(chapters[4], k.words)
		}
	}
	for _, d := range doubts {
		b.add(chapters[13], d.advice)
	}
	for _, class := range slices.Sorted(maps.Keys(adviceOf)) {
		b.add(chapters[13], adviceOf[class])
	}
	for _, k := range causes() {
		b.add(chapters[2], k.Why)
		b.add(chapters[7], k.Fix)
	}
	return b
}

// asked adds what is said of requests, of work and of a budget.
func (b book) asked(t *testing.T) {
	stops := recorded.Every(11.3, 0.4, 3)
	for _, marks := range [][]latency.Stretch{stops, recorded.Every(11.3, 0.4, 8), recorded.Every(1, 0.95, 0), nil} {
		l := latency.Of(recorded.Probed(recorded.Until(stops), marks))
		b.add(chapters[11], l.Line(), l.Sentence)
	}
	l := latency.Of(recorded.Probed(func(float64) time.Duration { return 0 }, stops))
	b.add(chapters[11], l.Sentence)
	l = latency.Of(recorded.Probed(recorded.Until(stops[:1]), stops))
	b.add(chapters[11], l.Sentence)
	for _, text := range []string{"200MiB", "400MiB", "total=400MiB,heap=100MiB", "heap=100MiB,garbage=100MiB", "heap=12MiB"} {
		s := leaking()
		var err error
		if s.Probed.Budget, err = budget.Parse(text); err != nil {
			t.Fatal(err)
		}
		a, err := Explain(s.Evidence, nil)
		if err != nil {
			t.Fatal(err)
		}
		b.add(chapters[11], a.Expected.Sentence)
	}
	bursts := func(t float64) float64 { return 1000*t + 40*math.Mod(t, 7) }
	for _, live := range []func(float64) float64{func(t float64) float64 { return 83 * 20_000 * t }, func(t float64) float64 { return 1e7 + 400*bursts(t) },
		func(t float64) float64 { return 1e7 + 2e6*t }} {
		if w := workOf(worked(live, map[string]func(float64) float64{"jobs_total": bursts})); w != nil {
			b.add(chapters[11], w.Sentence)
		}
	}
}

func TestTheSentencesAreInOneFile(t *testing.T) {
	b := everySentence(t)
	var text strings.Builder
	text.WriteString(generated +
		"# Every sentence of an answer\n\nRendered from the scenes of the tests, and from the tables of causes, reasons and advice. Sentences that differ in figures only are here once.\n" +
		"How easily the sentences read is measured by `go test ./internal/decide/explain -run TestTheSentencesReadEasily -v`: a Flesch-Kincaid grade of at most 9, and at most 18 words a sentence.\n" +
		"By the same count, the scenes of commit f7996eb (23 November 2026, before the rewrite) had grade 5.2, 15.6 words a sentence and 21% of sentences with more than 20 words. On 25 November 2026 it was grade 4.5, 11.6 words and 6%.\n")
	for _, chapter := range chapters {
		fmt.Fprintf(&text, "\n## %s\n\n", chapter)
		for _, s := range slices.Sorted(maps.Keys(b[chapter])) {
			fmt.Fprintf(&text, "* %s\n", s)
		}
	}
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(sentencesFile, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(sentencesFile)
	if err != nil {
		t.Fatal(err)
	}
	if line, g, w := firstDifference(string(got), text.String()); line > 0 {
		t.Errorf("docs/sentences.md:%d (UPDATE=1 rewrites)\n got %s\nwant %s", line, g, w)
	}
}

// The bounds of what is read easily: years of school, and words a sentence.
const (
	mostGrade = 9
	mostWords = 18
)

func TestTheSentencesReadEasily(t *testing.T) {
	b := everySentence(t)
	var all []string
	for _, chapter := range chapters {
		if chapter != "Evidence" && chapter != "Ruled out, because" { // figures, for --evidence
			for s := range b[chapter] {
				all = append(all, sentencesIn(s)...)
			}
		}
	}
	grade, words := readability(all)
	long := 0
	for _, s := range all {
		if len(strings.Fields(s)) > 20 {
			long++
		}
	}
	t.Logf("%d sentences: grade %.1f, %.1f words each, %d of more than 20", len(all), grade, words, long)
	if long*10 > len(all) {
		t.Errorf("%d of %d sentences have more than 20 words", long, len(all))
	}
	if grade > mostGrade || words > mostWords {
		t.Errorf("grade %.1f, at most %d; %.1f words a sentence, at most %d", grade, mostGrade, words, mostWords)
	}
}

// sentencesIn splits a text at its full stops.
func sentencesIn(text string) (out []string) {
	for _, s := range strings.SplitAfter(text, ". ") {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// readability is the Flesch-Kincaid grade level (Kincaid and others, 1975) and the mean number of
// words a sentence: 0.39 words a sentence + 11.8 syllables a word - 15.59.
func readability(sentences []string) (grade, words float64) {
	syllables := 0.0
	for _, s := range sentences {
		for _, w := range strings.Fields(s) {
			if n := syllablesOf(w); n > 0 {
				words++
				syllables += float64(n)
			}
		}
	}
	per := words / float64(len(sentences))
	return 0.39*per + 11.8*syllables/words - 15.59, per
}

// syllablesOf counts groups of vowels; a figure, a place in code or a name is one word of one.
func syllablesOf(word string) (n int) {
	word = strings.Trim(strings.ToLower(word), ".,:;()[]\"'")
	if word == "" {
		return 0
	}
	if strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && r != '-' && r != '\'' }) {
		return 1
	}
	vowel := false
	for _, r := range word {
		is := strings.ContainsRune("aeiouy", r)
		if is && !vowel {
			n++
		}
		vowel = is
	}
	if strings.HasSuffix(word, "e") && !strings.HasSuffix(word, "le") && n > 1 {
		n--
	}
	if strings.HasSuffix(word, "ed") && !strings.HasSuffix(word, "ted") && !strings.HasSuffix(word, "ded") && n > 1 {
		n--
	}
	return max(1, n)
}

func TestReadabilityIsThatOfKnownSentences(t *testing.T) {
	if grade, words := readability([]string{"The cat sat on the mat."}); grade > -1 || words != 6 {
		t.Errorf("grade %.2f, %v words", grade, words)
	}
	if grade,
		words := readability([]string{"Notwithstanding considerable architectural simplification, contemporary implementations continually necessitate extraordinarily comprehensive documentation."}); grade < 20 ||
		words != 11 {
		t.Errorf("grade %.2f, %v words", grade, words)
	}
	for word, want := range map[string]int{"heap": 1, "memory": 3, "allocated": 4, "retained": 2, "the": 1, "table": 2, "118": 1, "cache/cache.go:57": 1,
		"leave": 1} {
		if got := syllablesOf(word); got != want {
			t.Errorf("%s: %d syllables, want %d", word, got, want)
		}
	}
}
