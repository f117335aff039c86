package cli

import (
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/highwater-go/highwater/internal/app"
)

// PrintedCall is a call of highwater as a page, an answer or an example of help has it.
type PrintedCall struct {
	Where string
	Args  []string
}

// formOf is what a call asks for, whatever its values are: the command, its flags, and whether it
// names nothing, one thing or more. "" is not a call: a usage line, a word of a sentence.
func formOf(args []string) string {
	if len(args) == 0 || slices.ContainsFunc(args, isUsage) {
		return ""
	}
	root := newRoot(app.NewStreams(nil, io.Discard, io.Discard))
	root.InitDefaultHelpFlag()
	root.InitDefaultVersionFlag()
	if !strings.HasPrefix(args[0], "-") && !isCommand(root, args[0]) {
		return ""
	}
	c, rest, err := root.Find(args)
	if err != nil || c.HasParent() && c.HasSubCommands() {
		return ""
	}
	c.InitDefaultHelpFlag()
	_ = c.ParseFlags(rest) // a placeholder may not be a value of its flag: its name was seen
	flags := map[string]bool{}
	c.Flags().Visit(func(f *pflag.Flag) { flags["--"+f.Name] = true })
	for _, word := range rest {
		name, _, _ := strings.Cut(word, "=")
		if name == "--" {
			break
		}
		if strings.HasPrefix(name, "--") && c.Flags().Lookup(name[2:]) != nil {
			flags[name] = true
		}
	}
	left := fmt.Sprint(min(2, len(c.Flags().Args())))
	if at := c.ArgsLenAtDash(); at >= 0 {
		left = fmt.Sprint(min(2, at)) + "+program"
	}
	names := make([]string, 0, len(flags))
	for name := range flags {
		names = append(names, name)
	}
	sort.Strings(names)
	return strings.Join(append(append([]string{c.CommandPath()}, names...), left), " ")
}

// isUsage is a word of a line that shows how a command is called.
func isUsage(word string) bool {
	return strings.HasPrefix(word, "[") || strings.HasSuffix(word, "...") || strings.HasSuffix(word, "...]") || word == "PROGRAM" || word == "CMD"
}

// PrintedForms are all forms of calls that pages, answers and help print, each with the call that
// says most.
func PrintedForms(t *testing.T) map[string]PrintedCall {
	t.Helper()
	forms, best := map[string]PrintedCall{}, map[string]bool{}
	add := func(p printed) {
		for _, args := range calls(p.text) {
			form := formOf(args)
			if form == "" || best[form] || p.inText && (len(args) == 1 || callError(args, false) != nil) {
				continue // the last is a command that is only named
			}
			forms[form], best[form] = PrintedCall{p.where, args}, !p.inText
		}
	}
	pages := printedPages(t)
	for _, name := range sortedKeys(pages) {
		for _, p := range commandsOfPage(name, pages[name]) {
			add(p)
		}
	}
	root := newRoot(app.NewStreams(nil, io.Discard, io.Discard))
	for _, c := range append(documented(root), root) {
		for _, line := range strings.Split(continued.ReplaceAllString(c.Example, " "), "\n") {
			add(printed{"help of " + c.Name(), strings.TrimSpace(line), false})
		}
	}
	return forms
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}
