package arch

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	fenced  = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
)

// anchor is a heading as GitHub and the site name it in an address.
func anchor(title string) string {
	title = strings.ToLower(link.ReplaceAllString(title, ""))
	title = regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(title, "")
	return strings.ReplaceAll(strings.TrimSpace(title), " ", "-")
}

// deadLinks are the links of a page, in the folder root, that lead nowhere.
func deadLinks(root, page, text string) (dead []string) {
	for _, m := range link.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
		target, part, _ := strings.Cut(m[1], "#")
		if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
			continue
		}
		to := filepath.Join(root, filepath.Dir(page), target)
		if target == "" {
			to = filepath.Join(root, page)
		}
		info, err := os.Stat(to)
		if err != nil {
			dead = append(dead, m[1])
			continue
		}
		if part == "" || info.IsDir() || !strings.HasSuffix(to, ".md") {
			continue
		}
		other, err := os.ReadFile(to)
		found := false
		for _, h := range heading.FindAllStringSubmatch(fencedBlocks.ReplaceAllString(string(other), ""), -1) {
			found = found || anchor(h[1]) == part
		}
		if err != nil || !found {
			dead = append(dead, m[1])
		}
	}
	return dead
}

var fencedBlocks = regexp.MustCompile("(?s)```.*?```")

// fragments are parts of pages, which are written elsewhere.
var fragments = map[string]string{"internal/aside/bench/heldout.md": "docs/benchmarks.md", "cases/tuning/head.md": "docs/research/tune.md"}

func TestNoLinkOfTheDocsIsDead(t *testing.T) {
	const root = "../../.."
	pages := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules" || d.Name() == "vendor" || d.Name() == "testdata" || d.Name() == "demo") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".md") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		pages++
		page, err := filepath.Rel(root, path)
		if in, ok := fragments[page]; ok {
			page = in
		}
		for _, to := range deadLinks(root, page, string(text)) {
			t.Errorf("%s: the link to %s is dead", page, to)
		}
		return err
	})
	if err != nil || pages < 60 {
		t.Errorf("%d pages: %v", pages, err)
	}
}

func TestDeadLinksAreFound(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{"a.md": "# One, two\n\ntext", "docs.txt": ""} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got := deadLinks(root, "b.md", "[a](a.md) [b](a.md#one-two) [c](a.md#three) [d](c.md) [e](https://example.com/x) `[f](g.md)`")
	if strings.Join(got, " ") != "a.md#three c.md" {
		t.Errorf("dead are %q", got)
	}
}

// Every page of the docs can be reached from their index.
func TestThePagesOfTheDocsAreInTheirIndex(t *testing.T) {
	index, err := os.ReadFile("../../../docs/README.md")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob("../../../docs/*.md")
	if err != nil || len(pages) < 15 {
		t.Fatalf("%d pages: %v", len(pages), err)
	}
	howtos, err := filepath.Glob("../../../docs/howto/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(pages, howtos...) {
		name, err := filepath.Rel("../../../docs", page)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(name, "README.md") && !strings.Contains(string(index), "("+name+")") {
			t.Errorf("docs/README.md does not link to %s", name)
		}
	}
}
