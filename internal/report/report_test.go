package report

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/explain"
	"github.com/highwater-go/highwater/internal/sample"
)

// answers reads the answers that package explain's own tests hold.
func answers(t *testing.T) map[string]*explain.Answer {
	t.Helper()
	paths, err := filepath.Glob("../explain/testdata/*.json")
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

func TestAnAnswerIsAtMost30LinesOfItsWidth(t *testing.T) {
	for name, a := range answers(t) {
		for _, width := range []int{80, 100, 140} {
			for _, long := range []bool{false, true} {
				if long {
					lengthen(a)
				}
				page := strings.Split(strings.TrimSuffix(text(t, a, Options{Width: width, Source: source.Source}), "\n"), "\n")
				if len(page) > lines {
					t.Errorf("%s at %d columns: %d lines", name, width, len(page))
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

// isCommand: the line is there to be copied, and may be longer than the page.
func isCommand(line string) bool { return strings.Contains(line, "highwater ") }

func TestEveryCommandOfAnAnswerCanBeCopied(t *testing.T) {
	const load = "./load.sh --profile 'of an afternoon with many customers' --seconds 3600 --clients 40"
	for name, a := range answers(t) {
		lengthen(a)
		var commands []string
		for i := range a.Fixes {
			a.Fixes[i].Command += " --load " + load
			if i < 2 {
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

func TestAFoldedTextKeepsItsEnds(t *testing.T) {
	for _, c := range []struct {
		s    string
		n    int
		want string
	}{{"short", 10, "short"}, {"handlers/upload.go:172", 13, "hand…d.go:172"}, {"abcdef", 3, "abc"}, {"", 4, ""}} {
		if got := fold(c.s, c.n); got != c.want || columns(got) > c.n {
			t.Errorf("fold(%q, %d) = %q, want %q", c.s, c.n, got, c.want)
		}
	}
}

func TestTheHeadlineSaysWhoEndedTheProgram(t *testing.T) {
	code := func(n int) *int { return &n }
	for want, o := range map[string]explain.Outcome{
		"stopped by highwater after its load ended, 12 s after start":                                     {State: explain.Exited, Stopped: explain.StoppedLoad, Signal: "SIGTERM", ExitCode: code(143)},
		"stopped by highwater after 12 s":                                                                 {State: explain.Exited, Stopped: explain.StoppedAsked, ExitCode: code(0)},
		"stopped by highwater after 12 s (code 3)":                                                        {State: explain.Exited, Stopped: explain.StoppedAsked, ExitCode: code(3)},
		"stopped by highwater after its load ended, 12 s after start (by SIGKILL: it did not end before)": {State: explain.Exited, Stopped: explain.StoppedLoad, Signal: "SIGKILL", ExitCode: code(137)},
		"stopped from outside after 12 s, by SIGHUP sent to highwater":                                    {State: explain.Exited, Stopped: explain.StoppedForwarded, StopSignal: "SIGHUP", Signal: "SIGHUP", ExitCode: code(129)},
		"stopped by highwater after 12 s, as --for asked":                                                 {State: explain.Exited, Stopped: explain.StoppedTime, StopSignal: "SIGTERM", ExitCode: code(0)},
		"stopped by highwater after 12 s: it was never ready":                                             {State: explain.Exited, Stopped: explain.StoppedUnready, StopSignal: "SIGTERM", ExitCode: code(0)},
		"stopped by Ctrl-C after 12 s":                                                                    {State: explain.Exited, Stopped: explain.StoppedInterrupt, Signal: "SIGINT", ExitCode: code(130)},
		"stopped by SIGTERM after 12 s":                                                                   {State: explain.Killed, By: explain.BySignal, Signal: "SIGTERM", ExitCode: code(143)},
		"KILLED by SIGKILL, not by the OOM killer, 12 s after start":                                      {State: explain.Killed, By: explain.BySignal, Signal: "SIGKILL", ExitCode: code(137)},
		"KILLED by the kernel: the machine was out of memory, 12 s after start":                           {State: explain.Killed, By: explain.ByNode, Kernel: true, Stopped: explain.StoppedLoad},
		"crashed by SIGSEGV, 12 s after start":                                                            {State: explain.Killed, By: explain.BySignal, Signal: "SIGSEGV", ExitCode: code(139)},
		"exited with code 1 after 12 s":                                                                   {State: explain.Exited, ExitCode: code(1)},
		"running for 12 s":                                                                                {State: explain.Running},
		"watched for 12 s":                                                                                {State: explain.Running, Watched: true},
		"exited with code 1, 12 s after the watch began":                                                  {State: explain.Exited, ExitCode: code(1), Watched: true},
		"KILLED by the kernel: the machine was out of memory, 12 s after the watch began":                 {State: explain.Killed, By: explain.ByNode, Kernel: true, Watched: true},
	} {
		o.Elapsed = 12
		if got := outcome(o); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// However long the name and whatever is known of the cause.
func TestTheHeadlineNeverCutsHowItEnded(t *testing.T) {
	limit := 512 * sample.MiB
	a := explain.Answer{Program: explain.Program{Name: strings.Repeat("checkout", 5)}, Verdict: explain.Verdict{Fingerprint: "hw-7c1e09", Seen: 12, Class: "burst"}}
	for _, a.Outcome = range []explain.Outcome{
		{State: explain.Killed, Kernel: true, By: explain.ByCgroup, LimitBytes: &limit, Elapsed: 22000},
		{State: explain.Killed, Kernel: true, By: explain.ByNode, Elapsed: 22000, Watched: true},
		{State: explain.Exited, Stopped: explain.StoppedLoad, Signal: "SIGKILL", PeakBytes: &limit, LimitBytes: &limit, Elapsed: 22000},
	} {
		for _, width := range []int{40, 60, 80, 90, 100, 120, 200} {
			head, _, _ := strings.Cut(text(t, &a, Options{Width: width}), "\n\n")
			words := strings.Join(strings.Fields(head), " ")
			for _, want := range []string{"ckout", outcome(a.Outcome), "hw-7c1e09 (known, 12 times before)"} {
				if !strings.Contains(words, want) {
					t.Errorf("%d columns: %q is not in\n%s", width, want, head)
				}
			}
			for _, line := range strings.Split(head, "\n") {
				if columns(line) > width {
					t.Errorf("%d columns: %s", width, line)
				}
			}
		}
	}
}

func TestTheMomentIsNamedByWhenItWas(t *testing.T) {
	for want, o := range map[string]explain.Outcome{
		"the kill":                     {Moment: "kill"},
		"the last moment":              {Moment: "last"},
		"the moment 9.5 s after start": {Moment: "time", MomentElapsed: 9.5},
	} {
		if got := momentName(o); got != want {
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
	if got := text(t, a, Options{}); !strings.Contains(got, "\n  NOTE uploads are buffered; ticket 4711\n") {
		t.Error(got)
	}
}

func TestRowsTooSmallToShowAreSummedUp(t *testing.T) {
	const kib = int64(sample.KiB)
	names := func(rows []row) (out []string) {
		for _, r := range rows {
			out = append(out, r.name)
		}
		return out
	}
	many := []row{{"a", 900 * kib, ""}, {"b", 40 * kib, ""}, {"c", 30 * kib, ""}}
	if got := names(summedUp(many, 5)); !slices.Equal(got, []string{"a", "2 smaller parts"}) {
		t.Errorf("%v", got)
	}
	if got := names(summedUp(many[:2], 5)); !slices.Equal(got, []string{"a"}) {
		t.Errorf("%v: what is 0.0 even together is left out", got)
	}
	all := summedUp([]row{{"a", 900 * kib, ""}, {"b", 400 * kib, ""}, {"c", 300 * kib, ""}, {"d", 60 * kib, ""}}, 3)
	if got := names(all); !slices.Equal(got, []string{"a", "b", "2 smaller parts"}) || all[2].bytes != 360*kib {
		t.Errorf("%v", all)
	}
}

func TestWhatTheKernelMayHaveChargedAheadIsSaidWhereItIsMuch(t *testing.T) {
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
		a.Ledger = explain.Ledger{TotalBytes: c.total, UnexplainedBytes: int64(c.rest), OfCgroup: c.ofCgroup, Rows: []explain.LedgerRow{{Name: sample.RowLive, Bytes: c.total - c.rest}}}
		if got := text(t, a, Options{}); strings.Contains(got, "the kernel charges ahead") != c.said {
			t.Errorf("%+v:\n%s", c, got)
		}
	}
}

func TestNothingIsMinusZeroPercent(t *testing.T) {
	a := answers(t)["leak"]
	a.Ledger.UnexplainedBytes = -8192
	if got := text(t, a, Options{}); strings.Contains(got, "-0") || !strings.Contains(got, "unexplained                 0.0        0%") {
		t.Error(got)
	}
}

func TestALongCommandIsBrokenAsAShellReadsIt(t *testing.T) {
	p := page{width: 42}
	p.command("  ", "highwater run --limit 256MiB --load './load.sh --with many words' -- ./server -v", 4)
	want := []string{"  highwater run --limit 256MiB --load \\", "    './load.sh --with many words' -- \\", "    ./server -v"}
	if !slices.Equal(p.lines, want) {
		t.Errorf("%q\nwant %q", p.lines, want)
	}
	p = page{width: 40}
	p.command("", "highwater run --limit 256MiB -- ./server with more arguments than fit", 1)
	if !slices.Equal(p.lines, []string{"highwater run --limit 256MiB -- ./server with more arguments than fit"}) {
		t.Errorf("%q: where it may take one line only, it is too long rather than cut", p.lines)
	}
}
