package explain

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const pages = "../../../docs/rules"

// TestThePagesOfTheRulesAreFresh compares docs/rules with what the rules say of
// themselves and what their examples are answered; UPDATE=1 rewrites them.
func TestThePagesOfTheRulesAreFresh(t *testing.T) {
	want := map[string]string{"README.md": indexOfRules(), "causes.md": pageOfCauses()}
	for _, r := range rules() {
		want[string(r.Class)+".md"] = pageOf(t, r)
	}
	if os.Getenv("UPDATE") != "" {
		writePages(t, want)
	}
	files, err := filepath.Glob(filepath.Join(pages, "*"))
	if err != nil || len(files) != len(want) {
		t.Errorf("%d files in %s, want %d (%v)", len(files), pages, len(want), err)
	}
	for name, text := range want {
		got, err := os.ReadFile(filepath.Join(pages, name))
		if err != nil {
			t.Error(err)
			continue
		}
		if line, g, w := firstDifference(string(got), text); line > 0 {
			t.Errorf("docs/rules/%s:%d (UPDATE=1 rewrites)\n got %s\nwant %s", name, line, g, w)
		}
	}
}

func writePages(t *testing.T, texts map[string]string) {
	if err := os.MkdirAll(pages, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range texts {
		if err := os.WriteFile(filepath.Join(pages, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

const generated = "<!-- Generated from internal/decide/explain: UPDATE=1 go test ./internal/decide/explain -->\n\n"

func indexOfRules() string {
	var b strings.Builder
	b.WriteString(generated +
		"# The rules\n\n`highwater explain` asks each of these rules. One applies, and the others say why they do not; where none applies, the\n" +
		"answer is `inconclusive` and names what is missing. [causes.md](causes.md) lists what is well known of single lines.\n\n| class | when it is the truth |\n|---|---|\n")
	for _, r := range rules() {
		fmt.Fprintf(&b, "| [%s](%s.md) | %s |\n", r.Class, r.Class, r.Page.Truth)
	}
	return b.String()
}

func pageOf(t *testing.T, r Rule) string {
	t.Helper()
	run, ok := scenes[r.Page.Example]
	if !ok || r.Page.Truth == "" || len(r.Page.Looks) == 0 || len(r.Page.Blind) == 0 {
		t.Fatalf("the page of %s is not complete: %+v", r.Class, r.Page)
	}
	a, err := Explain(run().Evidence, nil)
	if err != nil || a.Verdict.Class != r.Class {
		t.Fatalf("the example of %s, %q, is answered %s (%v)", r.Class, r.Page.Example, a.Verdict.Class, err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s# %s\n\n%s\n", generated, r.Class, r.Page.Truth)
	listOf(&b, "What it looks at", r.Page.Looks)
	listOf(&b, "What it cannot see", r.Page.Blind)
	exampleOf(&b, r.Page.Example, a)
	return b.String()
}

func listOf(b *strings.Builder, head string, texts []string) {
	fmt.Fprintf(b, "\n## %s\n\n", head)
	for _, text := range texts {
		fmt.Fprintf(b, "* %s\n", text)
	}
}

// exampleOf is the answer of a made-up run, without its tables.
func exampleOf(b *strings.Builder, name string, a *Answer) {
	v := a.Verdict
	fmt.Fprintf(b, "\n## An example: %s\n\n> %s %s\n>\n> %s\n", name, v.Detail, v.Sentence, v.Sure)
	for i, w := range v.Why {
		if i == 0 {
			b.WriteString("\nWhy:\n\n")
		}
		fmt.Fprintf(b, "%d. %s\n", i+1, w.Text)
	}
	for i, f := range a.Fixes {
		if i == 0 {
			b.WriteString("\nFixes to try:\n\n")
		}
		fmt.Fprintf(b, "* %s", f.Text)
		if f.Outlook != "" {
			fmt.Fprintf(b, " (%s: %s)", f.State, f.Outlook)
		}
		b.WriteString("\n")
	}
	for _, n := range a.WontHelp {
		fmt.Fprintf(b, "* Won't help: %s (%s)\n", n.Text, n.Reason)
	}
	if a.NotPredicted != "" {
		fmt.Fprintf(b, "* Not predicted, for GOMEMLIMIT or another limit: %s\n", a.NotPredicted)
	}
	b.WriteString("\nIts evidence:\n\n")
	for _, f := range a.Evidence {
		fmt.Fprintf(b, "* %s\n", f.Text)
	}
}

func pageOfCauses() string {
	var b strings.Builder
	b.WriteString(generated +
		"# Well-known causes\n\nWhat is on the stack of the line that allocates, from the allocation outwards to that line. The first that fits explains.\n" +
		"They are data: [causes.json](../../internal/decide/explain/causes.json). A file of the same form adds your own, which come first.\n\n| cause | of | why | usual fix |\n|---|---|---|---|\n")
	for _, k := range causes() {
		of := "any"
		if len(k.Classes) > 0 {
			of = strings.Trim(fmt.Sprint(k.Classes), "[]")
		}
		fmt.Fprintf(&b, "| [%s](%s) | %s | %s | %s |\n", k.Name, k.URL, of, k.Why, k.Fix)
	}
	return b.String()
}
