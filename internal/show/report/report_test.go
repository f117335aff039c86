package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// answers reads the answers that package explain's own tests hold.
func answers(t *testing.T) map[string]*explain.Answer {
	t.Helper()
	paths, err := filepath.Glob("../../decide/explain/testdata/*.json")
	if err != nil || len(paths) < 15 {
		t.Fatalf("%d answers, %v", len(paths), err)
	}
	out := map[string]*explain.Answer{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		a := &explain.Answer{}
		if err := json.Unmarshal(text, a); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		out[strings.TrimSuffix(filepath.Base(path), ".json")] = a
	}
	return out
}

var source = Options{Source: func(_, file string, line int) (string, bool) {
	if strings.HasSuffix(file, "upload.go") && line == 172 {
		return "\terr := r.ParseMultipartForm(32 << 20)\n", true
	}
	return "", false
}}

func text(t *testing.T, a *explain.Answer, o Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := Text(&b, a, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestEachAnswerIsPrintedAsAgreed(t *testing.T) {
	for name, a := range answers(t) {
		t.Run(name, func(t *testing.T) {
			got := text(t, a, source)
			path := filepath.Join("testdata", name+".txt")
			if os.Getenv("UPDATE") != "" {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("%s differs (UPDATE=1 rewrites)\n--- got\n%s--- want\n%s", path, got, want)
			}
		})
	}
}

func TestAnAnswerIsAtMost25LinesOfItsWidth(t *testing.T) {
	for name, a := range answers(t) {
		for _, width := range []int{40, 80, 100, 140, 200} {
			for _, long := range []bool{false, true} {
				if long {
					lengthen(a)
				}
				page := strings.Split(strings.TrimSuffix(text(t, a, Options{Width: width, Source: source.Source}), "\n"), "\n")
				if len(page) > lines && width >= 100 {
					t.Errorf("%s at %d columns: %d lines\n%s", name, width, len(page), strings.Join(page, "\n"))
				}
				for _, line := range page {
					if columns(line) > width && !isCommand(line) {
						t.Errorf("%s at %d columns: %d columns: %s", name, width, columns(line), line)
					}
				}
			}
		}
	}
}

// What an answer says at every width, with and without UTF-8: how it ended, the cause, a reason, how
// sure that is, the table, and the first fix. From 80 columns on it is 25 lines.
func TestEveryWidthSaysWhatCounts(t *testing.T) {
	for name, a := range answers(t) {
		want := []string{a.Outcome.Sentence}
		if v := a.Verdict; v.Class != explain.Healthy && v.Class != explain.Inconclusive {
			want = append(want, " Cause ")
			if len(v.Why) > 0 {
				want = append(want, " Why ", sentences(v.Why[0].Text))
			}
			if len(v.Reasons) > 0 {
				want = append(want, " Sure? ")
			}
		}
		if len(a.Ledger.Rows) > 0 {
			want = append(want, "MEMORY AT THE ")
		}
		if len(a.Fixes) > 0 {
			want = append(want, "FIX", strings.TrimPrefix(strings.TrimSuffix(sentences(a.Fixes[0].Text), "."), "A ")) // "Set a limit of ..."
		}
		for _, width := range []int{40, 80, 120, 200} {
			for _, ascii := range []bool{false, true} {
				got := text(t, a, Options{Width: width, ASCII: ascii, NoSource: true})
				page := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
				if most := max(25, 25*80/width); len(page) > most {
					t.Errorf("%s at %d columns: %d lines, want %d\n%s", name, width, len(page), most, got)
				}
				for _, line := range page {
					if columns(line) > width && !isCommand(line) {
						t.Errorf("%s at %d columns: %d columns: %s", name, width, columns(line), line)
					}
				}
				if width < 80 { // where a long name is cut
					want = slices.DeleteFunc(slices.Clone(want), func(s string) bool {
						return slices.ContainsFunc(strings.Fields(s), func(word string) bool { return columns(word) > width/3 })
					})
				}
				for _, words := range want {
					if flat := unmarked(got); !strings.Contains(flat, strings.Join(strings.Fields(words), " ")) {
						t.Errorf("%s at %d columns, ASCII %v: %q is not in\n%s", name, width, ascii, words, got)
					}
				}
				if i := strings.IndexFunc(got, func(r rune) bool { return r > 0x7f }); ascii && i >= 0 {
					t.Errorf("%s at %d columns: not ASCII at %q", name, width, got[i:min(len(got), i+20)])
				}
			}
		}
	}
}

// isCommand reports whether the line is there to be copied, and may be longer than the page.
func isCommand(line string) bool {
	return strings.Contains(line, "highwater ") || !strings.Contains(strings.TrimSuffix(strings.TrimSpace(line), " \\"), " ")
}

func TestEveryCommandOfAnAnswerCanBeCopied(t *testing.T) {
	const load = "./load.sh --profile 'of an afternoon with many customers' --seconds 3600 --clients 40"
	for name, a := range answers(t) {
		lengthen(a)
		var commands []string
		for i := range a.Fixes {
			a.Fixes[i].Command += " --load " + load
			if i < 1 { // a second fix goes where there is no room
				commands = append(commands, a.Fixes[i].Command)
			}
		}
		for i := range a.Verdict.Next {
			a.Verdict.Next[i] = strings.Repeat("averylongpath/", 9) + a.Verdict.Next[i] + " --load " + load
		}
		if a.Verdict.Class == explain.Inconclusive {
			commands = append(commands, a.Verdict.Next...)
		}
		commands = append(commands, "highwater export --pprof "+a.Recording)
		for _, width := range []int{60, 100} {
			page := strings.Split(text(t, a, Options{Width: width}), "\n")
			for i := len(page) - 2; i >= 0; i-- { // as a shell joins lines
				if joined, ok := strings.CutSuffix(page[i], " \\"); ok {
					page[i] = joined + " " + strings.TrimLeft(page[i+1], " ")
				}
			}
			for _, want := range commands {
				if !slices.ContainsFunc(page, func(line string) bool { return strings.HasSuffix(line, want) }) {
					t.Errorf("%s at %d columns: no line ends with %s\n%s", name, width, want, strings.Join(page, "\n"))
				}
			}
			if n := strings.Count(strings.Join(page, "\n"), "\nNEXT"); n > 1 {
				t.Errorf("%s: NEXT %d times", name, n)
			}
		}
	}
}

// lengthen gives an answer the names of a large program.
func lengthen(a *explain.Answer) {
	long := strings.Repeat("averylongpackagename/", 6)
	a.Program.Name = strings.Repeat("program", 8)
	a.Recording = long + a.Recording
	for i := range a.Holders {
		a.Holders[i].File = "/home/build/" + long + strings.Repeat("file", 12) + ".go"
		a.Holders[i].Function = long + "pkg.(*" + strings.Repeat("Type", 20) + ").Method"
	}
	for len(a.Holders) > 0 && len(a.Holders) < 5 {
		a.Holders = append(a.Holders, a.Holders[0])
	}
	for len(a.Gaps) < 4 {
		a.Gaps = append(a.Gaps, explain.Gap{What: "something", Why: strings.Repeat("a long reason ", 12)})
	}
	for len(a.Ledger.Rows) < 12 {
		a.Ledger.Rows = append(a.Ledger.Rows, explain.LedgerRow{Name: "another row", Bytes: 1 << 20})
	}
	for len(a.Verdict.Why) > 0 && len(a.Verdict.Why) < 5 {
		a.Verdict.Why = append(a.Verdict.Why, a.Verdict.Why[0])
	}
	for i := range a.Fixes {
		a.Fixes[i].Text += ", in a file of a name that goes on and on and on and on and on for long"
	}
}

func TestColoursAreThereOnlyWhenAskedFor(t *testing.T) {
	a := answers(t)["leak"]
	if plain := text(t, a, Options{}); strings.Contains(plain, "\x1b") {
		t.Error("colours in plain text")
	}
	coloured := text(t, a, Options{Color: true})
	if !strings.Contains(coloured, "\x1b[") {
		t.Error("no colours")
	}
	for _, code := range []string{bold, red, green, cyan, off} {
		coloured = strings.ReplaceAll(coloured, code, "")
	}
	if coloured != text(t, a, Options{}) {
		t.Error("colours change the text")
	}
}

func TestNoSourcePrintsNoSourceLine(t *testing.T) {
	o := source
	o.NoSource = true
	a := answers(t)["burst-of-uploads"]
	if got := text(t, a, o); strings.Contains(got, "32 << 20") {
		t.Error(got)
	}
	if got := text(t, a, source); !strings.Contains(got, "32 << 20") {
		t.Error(got)
	}
}

func TestJSONIsTheAnswer(t *testing.T) {
	a := answers(t)["leak"]
	var b bytes.Buffer
	if err := JSON(&b, a); err != nil {
		t.Fatal(err)
	}
	var back explain.Answer
	if err := json.Unmarshal(b.Bytes(), &back); err != nil || back.Schema != explain.Schema || back.Verdict.Sentence != a.Verdict.Sentence {
		t.Errorf("%v: %s", err, b.String())
	}
}

func TestAFoldedPathKeepsItsEnd(t *testing.T) {
	for _, c := range []struct {
		s    string
		n    int
		want string
	}{{"short", 10, "short"}, {"handlers/upload.go:172", 14, "…upload.go:172"}, {"a/handlers/upload.go:172", 24, "a/handlers/upload.go:172"},
		{"some/handlers/upload.go:172", 25, "…/handlers/upload.go:172"}, {"abcdef", 3, "…ef"}, {"", 4, ""}} {
		if got := fold(c.s, c.n); got != c.want || columns(got) > c.n {
			t.Errorf("fold(%q, %d) = %q, want %q", c.s, c.n, got, c.want)
		}
	}
}

// However long the name and whatever is known of the cause.
func TestTheFirstSentenceIsNeverCut(t *testing.T) {
	a := answers(t)["leak"]
	a.Outcome.Sentence = strings.Repeat("checkout", 5) + " was OOM-killed after 6 h: it hit its 512 MiB memory limit."
	a.Verdict.Fingerprint, a.Verdict.Seen = "hw-7c1e09", 12
	for _, width := range []int{40, 60, 80, 90, 100, 120, 200} {
		page := text(t, a, Options{Width: width})
		words := strings.Join(strings.Fields(page), " ")
		for _, want := range []string{"out was OOM-killed after 6 h: it hit its 512 MiB memory limit.", "hw-7c1e09 (known, 12 times before)"} {
			if !strings.Contains(words, want) {
				t.Errorf("%d columns: %q is not in\n%s", width, want, page)
			}
		}
	}
}

// sentencesOf are the sentences of an answer that a page may leave out, but not cut.
func sentencesOf(a *explain.Answer) (out []string) {
	v := a.Verdict
	out = append(out, v.Sentence, v.Sure)
	for _, w := range v.Why {
		out = append(out, sentences(w.Text))
	}
	for _, n := range a.WontHelp {
		out = append(out, n.Text+": "+n.Reason+".")
	}
	if a.NotPredicted != "" {
		out = append(out, "GOMEMLIMIT or another limit: "+a.NotPredicted+".")
	}
	for _, g := range a.Gaps {
		out = append(out, g.What+": "+g.Why+".")
	}
	return strings.SplitAfter(strings.Join(out, " "), ". ")
}

// unmarked is a page without its line breaks and the evidence at its right edge.
func unmarked(page string) string {
	return strings.Join(strings.Fields(regexp.MustCompile(`\[e[\de ]*\]`).ReplaceAllString(page, "")), " ")
}

// Of each sentence its first four words are on the page only together with its last three.
func TestNoSentenceIsCutAtAnyWidth(t *testing.T) {
	for name, a := range answers(t) {
		for _, width := range []int{60, 80, 100, 140, 200} {
			page := unmarked(text(t, a, Options{Width: width}))
			for _, s := range sentencesOf(a) {
				words := strings.Fields(s)
				first, last := strings.Join(words[:min(6, len(words))], " "), strings.Join(words[max(0, len(words)-4):], " ")
				if strings.Contains(page, first) && !strings.Contains(page, last) {
					t.Errorf("%s at %d columns: %q is cut in\n%s", name, width, s, page)
				}
			}
		}
	}
}

func TestOneReasonIsAlwaysThere(t *testing.T) {
	for name, a := range answers(t) {
		lengthen(a)
		for len(a.Ledger.Rows) < 30 {
			a.Ledger.Rows = append(a.Ledger.Rows, a.Ledger.Rows...)
			if len(a.Ledger.Rows) == 0 {
				break
			}
		}
		if page := unmarked(text(t, a, Options{})); len(a.Verdict.Why) > 0 && !strings.Contains(page, sentences(a.Verdict.Why[0].Text)) {
			t.Errorf("%s: no reason in\n%s", name, page)
		}
	}
}

func TestWhatWasNotSeenIsAlwaysSaid(t *testing.T) {
	for name, a := range answers(t) {
		lengthen(a)
		if page := text(t, a, Options{}); !strings.Contains(page, "\nNOT SEEN  ") {
			t.Errorf("%s\n%s", name, page)
		}
	}
}

// Bars, ellipses and signs of ours are ASCII where the locale has no UTF-8; names are not ours.
func TestWithoutUTF8APageIsASCII(t *testing.T) {
	for name, a := range answers(t) {
		for _, r := range text(t, a, Options{ASCII: true}) {
			if r > 0x7f {
				t.Errorf("%s: %q", name, r)
			}
		}
	}
}

func TestPlacesAreLinksWhereTheTerminalFollowsThem(t *testing.T) {
	a := answers(t)["leak"]
	link := func(file string, line int) string { return fmt.Sprintf("editor://%s:%d", file, line) }
	got := text(t, a, Options{Link: link})
	want := "\x1b]8;;editor:///build/shop/cache/cache.go:57\x1b\\cache/cache.go:57\x1b]8;;\x1b\\"
	if !strings.Contains(got, want) {
		t.Errorf("%q has no %q", got, want)
	}
	if bare := regexp.MustCompile("\x1b]8;;[^\x1b]*\x1b\\\\").ReplaceAllString(got, ""); bare != text(t, a, Options{}) {
		t.Error("links change the text")
	}
}

func TestTheTableIsNamedByWhenItWas(t *testing.T) {
	for want, o := range map[string]explain.Outcome{
		"AT THE KILL":         {Moment: "kill"},
		"AT THE LAST READING": {Moment: "last"},
		"9.5 S AFTER START":   {Moment: "time", MomentElapsed: 9.5},
		"AT THE PEAK":         {Moment: "peak", MomentElapsed: 38, Elapsed: 40},

		"AT THE PEAK, 12 s after start": {Moment: "peak", MomentElapsed: 12, Elapsed: 40},
	} {
		if got := when(&explain.Answer{Outcome: o}, true); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestACauseIsNewKnownOrAccepted(t *testing.T) {
	for want, v := range map[string]explain.Verdict{
		"new":                      {},
		"known":                    {Note: &explain.Note{Text: "uploads"}},
		"known, once before":       {Seen: 1},
		"known, 3 times before":    {Seen: 3},
		"accepted":                 {Note: &explain.Note{Accepted: true}},
		"accepted, 2 times before": {Seen: 2, Note: &explain.Note{Accepted: true}},
	} {
		if got := known(v); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	a := answers(t)["leak"]
	a.Verdict.Note = &explain.Note{Text: "uploads are buffered; ticket 4711"}
	if got := text(t, a, Options{}); !strings.Contains(got, "\n  Note    uploads are buffered; ticket 4711\n") {
		t.Error(got)
	}
}

func TestSmallRowsAreSummedUpByName(t *testing.T) {
	l := explain.Ledger{TotalBytes: 100 * sample.MiB, UnexplainedBytes: int64(sample.MiB) / 2}
	for name, n := range map[string]sample.Bytes{"a": 60, "b": 26, "c": 9, "d": 2, "e": 2} {
		l.Rows = append(l.Rows, explain.LedgerRow{Name: name, Bytes: n * sample.MiB})
	}
	slices.SortFunc(l.Rows, func(x, y explain.LedgerRow) int { return strings.Compare(x.Name, y.Name) })
	got := fmt.Sprint(shownRows(l, 8), shownRows(l, 3))
	want := fmt.Sprint([]row{{"a", 60 << 20, ""}, {"b", 26 << 20, ""}, {"c", 9 << 20, ""}, {"other", 4<<20 + 1<<19, "d, e, 0.5 MiB unexplained"}},
		[]row{{"a", 60 << 20, ""}, {"b", 26 << 20, ""}, {"other", 13<<20 + 1<<19, "c, d, e, 0.5 MiB unexplained"}})
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if few := shownRows(l, 1); len(few) != 3 || few[1].name != "b" {
		t.Errorf("a row of a quarter of the memory is not shown apart where there is little room: %v", few)
	}
}

// A page without room for all lines has the one that the cause names.
func TestTheLineThatTheCauseNamesIsListed(t *testing.T) {
	line := func(n int) explain.Holder {
		return explain.Holder{Place: sample.Place{Function: "main.f", File: "/src/main.go", Line: n}, Bytes: sample.Bytes(10-n) * sample.MiB}
	}
	a := &explain.Answer{Holders: []explain.Holder{line(1), line(2), line(3)}}
	a.Verdict.Culprit = &explain.Culprit{Place: sample.Place{Function: "main.f", File: "/src/main.go", Line: 3}, Role: "allocates"}
	for most, want := range map[int][]int{1: {1, 3}, 2: {1, 3}, 3: {1, 2, 3}} {
		var got []int
		for _, h := range listedHolders(a, most) {
			got = append(got, h.Line)
		}
		if !slices.Equal(got, want) {
			t.Errorf("of %d lines %v are listed, want %v", most, got, want)
		}
	}
	a.Verdict.Culprit.Role = "retains"
	if got := listedHolders(a, 1); len(got) != 1 {
		t.Errorf("a line that waits is listed as one that allocates: %v", got)
	}
}

func TestAnArgumentThatWasNotRecordedIsSaid(t *testing.T) {
	p := page{width: 100}
	p.testedBy(explain.Fix{Kind: "code", Command: "highwater run -- ./server -config …"}, 4)
	if got := strings.Join(p.lines,
		"\n"); got != "     Rebuild, then check. Replace each … with the argument that was not recorded:\n       highwater run -- ./server -config …" {
		t.Error(got)
	}
}

func TestAPeakAndTheTableOfWhatWasReadNearItAreTold(t *testing.T) {
	peak := 309 * sample.MiB
	a := &explain.Answer{Outcome: explain.Outcome{Moment: "peak", PeakBytes: &peak}, Ledger: explain.Ledger{OfCgroup: true, TotalBytes: 305 * sample.MiB}}
	if got := when(a, true); got != "NEAR THE PEAK OF 309 MiB" {
		t.Error(got)
	}
	a.Ledger.TotalBytes = peak - sample.MiB/2
	if got := when(a, true); got != "AT THE PEAK" {
		t.Error(got)
	}
}

func TestWhatTheKernelMayHaveCountedInABatchIsSaidWhereItIsMuch(t *testing.T) {
	for _, c := range []struct {
		total, rest sample.Bytes
		ofCgroup    bool
		said        bool
	}{
		{1300 * sample.KiB, 500 * sample.KiB, true, true},
		{1300 * sample.KiB, 500 * sample.KiB, false, false},
		{256 * sample.MiB, 500 * sample.KiB, true, false},
		{40 * sample.MiB, 12 * sample.MiB, true, false},
	} {
		a := answers(t)["leak"]
		a.Ledger = explain.Ledger{TotalBytes: c.total, UnexplainedBytes: int64(c.rest), OfCgroup: c.ofCgroup,
			Rows: []explain.LedgerRow{{Name: sample.RowLive, Bytes: c.total - c.rest}}}
		if got := text(t, a, Options{}); strings.Contains(got, "the kernel counts in batches") != c.said || !strings.Contains(got, "unexplained") {
			t.Errorf("%+v:\n%s", c, got)
		}
	}
}

func TestNothingIsMinusZeroPercent(t *testing.T) {
	a := answers(t)["leak"]
	a.Ledger.UnexplainedBytes = -8192
	if got := text(t, a, Options{}); strings.Contains(got, "-0") {
		t.Error(got)
	}
}

func TestALongCommandIsBrokenAsAShellReadsIt(t *testing.T) {
	p := page{width: 42}
	p.command("  ", "highwater run --limit 256MiB --load './load.sh --with many words' -- ./server -v", 4)
	want := []string{"  highwater run --limit 256MiB \\", "    --load './load.sh --with many words' \\", "    -- ./server -v"}
	if !slices.Equal(p.lines, want) {
		t.Errorf("%q\nwant %q", p.lines, want)
	}
	p = page{width: 40}
	p.command("", "highwater run --limit 256MiB -- ./server with more arguments than fit", 1)
	if !slices.Equal(p.lines, []string{"highwater run --limit 256MiB -- ./server with more arguments than fit"}) {
		t.Errorf("%q: where it may take one line only, it is too long rather than cut", p.lines)
	}
}

// The reasons of the cause were dropped where an answer was full, as when REQUESTS was shown (row A8 of the
// first users' findings).
func TestRowA8TheReasonsAreNotDroppedWhereAnAnswerIsFull(t *testing.T) {
	seen := 0
	for name, a := range answers(t) {
		if a.Verdict.Class != explain.Burst && a.Verdict.Class != explain.Leak || len(a.Verdict.Why) == 0 {
			continue
		}
		seen++
		page := unmarked(text(t, a, Options{}))
		if !strings.Contains(page, " Why ") || !strings.Contains(page, sentences(a.Verdict.Why[0].Text)) {
			t.Errorf("%s: no reason in\n%s", name, page)
		}
		if len(a.Verdict.Reasons) > 0 && !strings.Contains(page, " Sure? ") {
			t.Errorf("%s: not how sure it is in\n%s", name, page)
		}
	}
	if seen < 10 {
		t.Errorf("only %d answers have a cause with reasons", seen)
	}
}
