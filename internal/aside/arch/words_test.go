package arch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// speaking are the packages whose string literals people read.
var speaking = []string{"explain", "report", "pacer", "trial", "units", "web", "top"}

// rendered are the files that hold what was printed.
var rendered = []string{"../../../docs/sentences.md", "../../../docs/answers.md", "../../../docs/rules/*.md", "../../show/report/testdata/*.txt",
	"../../decide/explain/causes.json"}

// written are the pages that people write; benchmarks.md, truth.md and cases.md have figures of programs
// with their names in them.
var written = []string{"../../../README.md", "../../../CHANGELOG.md", "../../../CONTRIBUTING.md", "../../../SECURITY.md", "../../../docs/adr/0*.md",
	"../../../docs/howto/*.md", "../../../docs/kubernetes/*.md", "../../../docs/commands/*.md",
	"../../../docs/research/*.md", "../../../docs/json.md", "../../../docs/recording.md", "../../../docs/concepts.md", "../../../docs/faq.md",
	"../../../docs/glossary.md", "../../../docs/troubleshooting.md", "../../../docs/traps.md", "../../../docs/heap.md",
	"../../../docs/native.md", "../../../docs/containers.md", "../../../docs/fleet.md", "../../../docs/runbook.md", "../../../docs/promises.md",
	"../../../docs/try.md", "../../../docs/tune.md"}

// notWords are code, files and titles of pages, whose names stay.
var notWords = regexp.MustCompile("`[^`]*`|^# .*$|\\]\\([^)]*\\)|^    .*$|oom-beside|\"[^\"]*\"")

func TestNoPageHasABannedPhrase(t *testing.T) {
	n := 0
	for _, glob := range written {
		files, err := filepath.Glob(glob)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", glob, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			fence := false
			for i, line := range strings.Split(string(text), "\n") {
				if fence = fence != strings.HasPrefix(strings.TrimSpace(line), "```"); fence {
					continue
				}
				ban(t, fmt.Sprintf("%s:%d", file, i+1), notWords.ReplaceAllString(line, ""))
				n++
			}
		}
	}
	if n < 3000 {
		t.Errorf("only %d lines", n)
	}
}

// banned are the phrases that no answer has: none of them is what an engineer would say, or
// there is a fixed word for the thing.
var banned = []struct{ phrase, instead string }{
	{`(is|are|was|were) no [a-z]\w*`, "is not a"},
	{`(is|are|was|were) none`, "there is no"},
	{`came to its own end`, "exited by itself"},
	{`(never|not) c[ao]me back`, "never fell"},
	{`only became more`, "never fell"},
	{`at work`, "in flight"},
	{`as a whole`, "at once"},
	{`for itself`, "internal"},
	{`goes on`, "keeps running"},
	{`let go of`, "release, detach"},
	{`anew`, "again"},
	{`in calm`, "while memory is stable"},
	{`stood`, "was"},
	{`would have told`, "is not known"},
	{`charges ahead`, "counts in batches"},
	{`to better than`, "within"},
	{`beside`, "next to, besides"},
	{`has to do`, "must do"},
	{`which is known`, "known"},
	{`of all lines`, "of the lines"},
	{`in health`, "without GC thrashing"},
	{`(it|program|only just) lives`, "survives"},
	{`idle heap`, "free heap"},
	{`(took|take|takes|taken) back`, "reclaim"},
	{`the (garbage )?collector`, "GC"},
	{`heap goal`, "GC target"},
	{`a spiral|spiral of`, "GC thrashing"},
	{`churn`, "a high allocation rate"},
	{`culprit|to blame|is blamed`, "the line that allocates"},
	{`who (holds|held)`, "what retains"},
	{`is held by|still held`, "is retained by, is reachable"},
	{`was charged|is charged|not charged`, "counted"},
}

// fine are the few uses of such words that are English.
var fine = regexp.MustCompile(`(?i)there (is|are|was|were) no |(is|are|was|were) no (longer|more)\b|no prediction`)

// names are those of classes and links, which stay as they are.
var names = regexp.MustCompile(`\[[^\]]*\]\([^)]*\)|^##? [a-z0-9-]+$|^True: .*$|"classes": .*|\| [a-z-]+(?: (?:leak|goroutine-leak|burst|baseline|churn))* \|`)

func ban(t *testing.T, where, text string) {
	t.Helper()
	text = fine.ReplaceAllString(names.ReplaceAllString(text, ""), "")
	for _, b := range banned {
		if m := regexp.MustCompile(`(?i)\b(` + b.phrase + `)\b`).FindString(text); m != "" {
			t.Errorf("%s: %q (say: %s) in %.200s", where, m, b.instead, text)
		}
	}
}

func TestNothingThatIsPrintedHasABannedPhrase(t *testing.T) {
	n := 0
	for _, glob := range rendered {
		files, err := filepath.Glob(glob)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", glob, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for i, line := range strings.Split(string(text), "\n") {
				ban(t, fmt.Sprintf("%s:%d", file, i+1), line)
				n++
			}
		}
	}
	if n < 1000 {
		t.Errorf("only %d lines", n)
	}
}

func TestNoStringOfTheSpeakingPackagesHasABannedPhrase(t *testing.T) {
	n := 0
	for _, name := range speaking {
		files, err := filepath.Glob("../../" + folderOf(name) + "/*.go")
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", name, err)
		}
		for _, file := range files {
			if !strings.HasSuffix(file, "_test.go") {
				n += banStrings(t, file)
			}
		}
	}
	if n < 500 {
		t.Errorf("only %d strings", n)
	}
}

// banStrings looks at the string literals of a file that have a space in them: others are names.
func banStrings(t *testing.T, file string) (n int) {
	files := token.NewFileSet()
	tree, err := parser.ParseFile(files, file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(tree, func(node ast.Node) bool {
		lit, ok := node.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING || strings.HasPrefix(lit.Value, "`json:") {
			return true
		}
		if text, err := strconv.Unquote(lit.Value); err == nil && strings.Contains(text, " ") {
			ban(t, fmt.Sprintf("%s:%d", file, files.Position(lit.Pos()).Line), text)
			n++
		}
		return true
	})
	return n
}

// TestTheBanFindsWhatItIsFor shows that the phrases are found, and English is left alone.
func TestTheBanFindsWhatItIsFor(t *testing.T) {
	for text, bad := range map[string]bool{
		"it is no Go program": true, "there is no limit": false, "is no longer alive": false, "seven are none of them": true, "besides this": false,
		"beside this":     true,
		"a standing call": false, "one stood there": true, "what lives there": false, "where it lives": true,
	} {
		found := false
		for _, b := range banned {
			found = found || regexp.MustCompile(`(?i)\b(`+b.phrase+`)\b`).MatchString(fine.ReplaceAllString(text, ""))
		}
		if found != bad {
			t.Errorf("%q: %v", text, found)
		}
	}
}
