package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/highwater-go/highwater/internal/app"
)

// documented are the commands that help shows.
func documented(root *cobra.Command) (list []*cobra.Command) {
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			list = append(list, c)
		}
	}
	return list
}

func TestEveryCommandHasATaskTwoExamplesAndAPage(t *testing.T) {
	root := newRoot(app.NewStreams(nil, io.Discard, io.Discard))
	for _, c := range documented(root) {
		if !slices.ContainsFunc(tasks, func(g cobra.Group) bool { return g.ID == c.GroupID }) {
			t.Errorf("%s is for the task %q", c.Name(), c.GroupID)
		}
		if n := len(regexp.MustCompile(`(?m)^  .*\bhighwater `).FindAllString(c.Example, -1)); n < 2 {
			t.Errorf("%s has %d examples, want two", c.Name(), n)
		}
		if help := helpOf(c, mostHelp); !strings.HasSuffix(help, "\nMore: "+docsPages+c.Name()+".md\n") {
			t.Errorf("help of %s does not end with the address of its page:\n%s", c.Name(), help)
		}
		text := page(c)
		if c.Name() != "completion" { // whose commands are cobra's
			for _, one := range c.Commands() {
				text = append(append(text, '\n'), page(one)...)
			}
		}
		compareDoc(t, c.Name()+".md", text)
	}
	compareDoc(t, "README.md", index(root))
	if files, _ := filepath.Glob("../../docs/commands/*.md"); len(files) != len(documented(root))+1 {
		t.Errorf("docs/commands has %d pages for %d commands", len(files), len(documented(root)))
	}
}

func TestHelpIsNoWiderThanItsTerminal(t *testing.T) {
	root := newRoot(app.NewStreams(nil, io.Discard, io.Discard))
	for _, c := range append(documented(root), root) {
		for _, width := range []int{80, mostHelp} {
			for _, line := range strings.Split(helpOf(c, width), "\n") {
				example := strings.Contains(c.Example, line) || strings.Contains(line, c.UseLine()) || strings.HasPrefix(line, "More: ")
				if n := len([]rune(line)); n > width && !(example && n <= mostHelp) {
					t.Errorf("%s at %d columns, %d: %s", c.Name(), width, n, line)
				}
			}
		}
	}
}

func TestHelpIsInPlainWords(t *testing.T) {
	banned := regexp.MustCompile(`(?i)\bis no |\bare none|came to its own end|came back|let go|lets go|\banew\b|\bstood\b|\blives\b|as a whole|for itself|\bat work\b|\bbeside\b|goes on|go on\b|in calm|the collector|how many programs`)
	root := newRoot(app.NewStreams(nil, io.Discard, io.Discard))
	for _, c := range append(documented(root), root) {
		for _, line := range strings.Split(helpOf(c, mostHelp), "\n") {
			if word := banned.FindString(line); word != "" {
				t.Errorf("%s says %q: %s", c.Name(), word, line)
			}
		}
	}
}

// compareDoc compares a page of docs/commands, or writes it where UPDATE is 1.
func compareDoc(t *testing.T, name string, want []byte) {
	t.Helper()
	path := filepath.Join("../../docs/commands", name)
	if os.Getenv("UPDATE") == "1" {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is not what help says (%v): UPDATE=1 go test ./internal/cli -run TestEveryCommand writes it", path, err)
	}
}

// page is a command's page in docs/commands.
func page(c *cobra.Command) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s\n\n%s.\n\n", c.CommandPath(), c.Short)
	for _, paragraph := range strings.Split(c.Long, "\n\n") {
		if strings.HasPrefix(paragraph, " ") {
			paragraph = "```\n" + paragraph + "\n```"
		}
		fmt.Fprintf(&b, "%s\n\n", paragraph)
	}
	block := func(title, text string) {
		if text != "" {
			fmt.Fprintf(&b, "## %s\n\n```\n%s\n```\n\n", title, strings.TrimRight(text, "\n"))
		}
	}
	block("Usage", c.UseLine())
	block("Examples", regexp.MustCompile(`(?m)^  `).ReplaceAllString(c.Example, ""))
	block("Flags", c.LocalFlags().FlagUsagesWrapped(mostHelp))
	return append(bytes.TrimRight(b.Bytes(), "\n"), '\n')
}

// index is the list of all pages, by task.
func index(root *cobra.Command) []byte {
	var b bytes.Buffer
	b.WriteString("# Commands\n\nThese pages are what `highwater COMMAND --help` prints.\n")
	for _, g := range root.Groups() {
		fmt.Fprintf(&b, "\n## %s\n\n", strings.TrimSuffix(g.Title, ":"))
		for _, c := range documented(root) {
			if c.GroupID == g.ID {
				fmt.Fprintf(&b, "* [%s](%s.md): %s\n", c.Name(), c.Name(), c.Short)
			}
		}
	}
	return b.Bytes()
}
