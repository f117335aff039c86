package cli

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/highwater-go/highwater/internal/app"
)

// printed is a command line as a page has it.
type printed struct {
	where, text string
	inText      bool // quoted in a sentence, which may leave the arguments out
}

var (
	codeSpan  = regexp.MustCompile("`([^`\n]+)`")
	continued = regexp.MustCompile(`\s*\\\n\s*`)
)

// commandsOfPage are the lines of a page that call highwater: those of its code blocks, and what
// its sentences quote.
func commandsOfPage(name, text string) (list []printed) {
	fence := false
	for i, line := range strings.Split(continued.ReplaceAllString(text, " "), "\n") {
		where := fmt.Sprintf("%s: line %d", name, i+1)
		trimmed := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(trimmed, "```"):
			fence = !fence
		case fence || strings.HasPrefix(line, "    "):
			list = append(list, printed{where, trimmed, false})
		default:
			for _, m := range codeSpan.FindAllStringSubmatch(line, -1) {
				list = append(list, printed{where, m[1], true})
			}
		}
	}
	return list
}

// wordsOf splits as a shell does, as far as printed commands need it: quotes, and an explanation
// behind two spaces or a number sign.
func wordsOf(line string) (words []string) {
	var word strings.Builder
	open, quote := false, rune(0)
	for i, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			open, quote = true, r
		case r == ' ' && strings.HasPrefix(line[i:], "  "), r == '#' && !open && len(words) > 0, strings.ContainsRune("|;&()>`", r) && quote == 0:
			if open {
				words = append(words, word.String())
			}
			return words
		case r == ' ':
			if open {
				words = append(words, word.String())
			}
			open = false
			word.Reset()
		default:
			open = true
			word.WriteRune(r)
		}
	}
	if open {
		words = append(words, word.String())
	}
	return words
}

// calls are the argument lists with which a line calls highwater.
func calls(line string) (list [][]string) {
	for rest, at := line, 0; ; rest = rest[at+len("highwater"):] {
		at = strings.Index(rest, "highwater")
		if at < 0 {
			return list
		}
		before, after := rest[:at], rest[at+len("highwater"):]
		begins := before == "" || strings.HasSuffix(before, " ") && !strings.HasSuffix(before, "kubectl ") && !strings.HasSuffix(before, "helm install ") &&
			!strings.HasSuffix(before, " -n ") || strings.HasSuffix(before, "(") || strings.HasSuffix(before, "bin/") || strings.HasSuffix(before, "./")
		if words := wordsOf(after); begins && strings.HasPrefix(after, " ") && len(words) > 0 {
			if last := &words[len(words)-1]; endsSentence.MatchString(*last) {
				*last = strings.TrimSuffix(*last, ".")
			}
			list = append(list, words)
			if words[0] == "run" || words[0] == "watch" { // what it runs is another program's
				return list
			}
		}
	}
}

// endsSentence is a word of letters with the full stop of its sentence, as in "compare them: highwater diff."
var endsSentence = regexp.MustCompile(`^[a-z-]+[a-z]\.$`)

// placeholder is what stands for a value in a page.
var placeholder = regexp.MustCompile(`^[A-Z][A-Z0-9_.-]*$|^\[|^\.\.\.$|^…$`)

// verbs follow the name of the program in a sentence.
var verbs = []string{"itself", "stopped", "compares", "there", "keeps", "run,"}

// callError says what is wrong with a call: a command, a flag or a value that is not there, or a
// wrong number of arguments.
func callError(args []string, inText bool) error {
	root := newRoot(app.NewStreams(nil, io.Discard, io.Discard))
	if placeholder.MatchString(args[0]) || slices.Contains(verbs, args[0]) {
		return nil
	}
	if strings.HasPrefix(args[0], "-") {
		root.InitDefaultHelpFlag()
		root.InitDefaultVersionFlag()
		return withoutValues(root, root.ParseFlags(args))
	}
	c, rest, err := root.Find(args)
	if err != nil {
		return err
	}
	if !c.HasParent() {
		return fmt.Errorf("%q is not a command", args[0])
	}
	c.InitDefaultHelpFlag()
	if err := c.ParseFlags(rest); err != nil {
		return withoutValues(c, err)
	}
	left := c.Flags().Args()
	if inText && len(left) == 0 || c.HasSubCommands() || slices.ContainsFunc(left, func(s string) bool { return placeholder.MatchString(s) }) {
		return nil
	}
	return c.ValidateArgs(left)
}

// withoutValues forgives a value that is a word in capitals, and a flag that is named without one.
func withoutValues(_ *cobra.Command, err error) error {
	var missing *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	if errors.As(err, &missing) || errors.As(err, &invalid) && placeholder.MatchString(invalid.GetValue()) {
		return nil
	}
	return err
}

// printedPages are the files whose commands a reader pastes.
func printedPages(t *testing.T) (pages map[string]string) {
	t.Helper()
	pages = map[string]string{}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && slices.Contains([]string{".git", "node_modules", "vendor", "bin", "demo", "ui"}, d.Name()) {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".md") && !(strings.Contains(path, "/testdata/") && strings.HasSuffix(path, ".txt")) {
			return nil
		}
		text, err := os.ReadFile(path)
		pages[strings.TrimPrefix(path, "../../")] = string(text)
		return err
	})
	if err != nil || len(pages) < 60 {
		t.Fatalf("%d pages: %v", len(pages), err)
	}
	return pages
}

// foreign are flags of other programs that pages name.
var foreign = map[string]string{"--target": "kubectl debug", "--user": "systemctl"}

// Every flag that a sentence names is one of highwater's, or of a program that is named here.
func TestEveryFlagThatIsNamedIsThere(t *testing.T) {
	known := map[string]bool{"--": true, "--help": true, "--version": true}
	var add func(c *cobra.Command)
	add = func(c *cobra.Command) {
		c.Flags().VisitAll(func(f *pflag.Flag) { known["--"+f.Name] = true })
		for _, one := range c.Commands() {
			add(one)
		}
	}
	add(newRoot(app.NewStreams(nil, io.Discard, io.Discard)))
	n := 0
	for name, text := range printedPages(t) {
		for _, p := range commandsOfPage(name, text) {
			word, _, _ := strings.Cut(p.text, " ")
			word, _, _ = strings.Cut(word, "=")
			if !p.inText || !strings.HasPrefix(word, "--") {
				continue
			}
			n++
			if whose := foreign[word]; !known[word] && whose == "" {
				t.Errorf("%s: there is no flag %s", p.where, word)
			}
		}
	}
	if n < 100 {
		t.Errorf("only %d flags were found", n)
	}
}

// What an error or a hint suggests can be pasted, too.
func TestEveryCommandOfAStringIsThere(t *testing.T) {
	n := 0
	root := newRoot(app.NewStreams(nil, io.Discard, io.Discard))
	for _, glob := range []string{"../*/*.go", "../../cmd/*/*.go", "../../kubectl-highwater/*.go"} {
		files, err := filepath.Glob(glob)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", glob, err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			for _, p := range stringsOf(t, file) {
				for _, args := range calls(p.text) {
					if !isCommand(root, args[0]) {
						continue // the subject of a sentence
					}
					n++
					if err := callError(uncounted(root, args), true); err != nil {
						t.Errorf("%s: %v: %s", p.where, err, p.text)
					}
				}
			}
		}
	}
	t.Logf("%d commands", n)
	if n < 40 {
		t.Errorf("only %d commands were found", n)
	}
}

// uncounted are the words of a call in a sentence up to where a comma, a full stop or a verb ends
// it, without arguments that cannot be told from the sentence's own words.
func uncounted(root *cobra.Command, args []string) (call []string) {
	if c, _, err := root.Find(args[:1]); err == nil && c.HasSubCommands() && len(args) > 1 && isCommand(c, args[1]) {
		return append(args[:1:1], uncounted(c, args[1:])...)
	}
	for i, word := range args {
		bare := strings.TrimRight(word, ",.;:")
		if i == 0 || strings.HasPrefix(bare, "-") || strings.HasPrefix(args[i-1], "-") && !strings.HasSuffix(args[i-1], ",") {
			call = append(call, bare)
		}
		if bare != word && !strings.HasSuffix(word, "...") {
			break
		}
	}
	return call
}

func isCommand(parent *cobra.Command, name string) bool {
	return slices.ContainsFunc(parent.Commands(), func(c *cobra.Command) bool { return c.Name() == name })
}

// stringsOf are the string literals of a source, with what formats a value as a placeholder.
func stringsOf(t *testing.T, file string) (list []printed) {
	t.Helper()
	files := token.NewFileSet()
	tree, err := parser.ParseFile(files, file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(tree, func(node ast.Node) bool {
		lit, ok := node.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return true
		}
		if text, err := strconv.Unquote(lit.Value); err == nil {
			text = continued.ReplaceAllString(verb.ReplaceAllString(text, "VALUE"), " ")
			for _, line := range strings.Split(text, "\n") {
				list = append(list, printed{fmt.Sprintf("%s:%d", file, files.Position(lit.Pos()).Line), line, true})
			}
		}
		return true
	})
	return list
}

var verb = regexp.MustCompile(`%[+#-]?[sdvq]`)

// Whatever a page prints can be pasted: its command, its flags and their values are there.
func TestEveryCommandThatIsPrintedIsThere(t *testing.T) {
	n := 0
	check := func(p printed) {
		for _, args := range calls(p.text) {
			n++
			if err := callError(args, p.inText); err != nil {
				t.Errorf("%s: %v: %s", p.where, err, p.text)
			}
		}
	}
	for name, text := range printedPages(t) {
		for _, p := range commandsOfPage(name, text) {
			check(p)
		}
	}
	root := newRoot(app.NewStreams(nil, io.Discard, io.Discard))
	for _, c := range append(documented(root), root) {
		for _, line := range strings.Split(continued.ReplaceAllString(c.Example, " "), "\n") {
			check(printed{"help of " + c.Name(), strings.TrimSpace(line), false})
		}
	}
	t.Logf("%d commands", n)
	if n < 300 {
		t.Errorf("only %d commands were found", n)
	}
}

func TestACommandThatIsNotThereIsFound(t *testing.T) {
	for line, good := range map[string]bool{
		"highwater run --limit 256MiB -- ./server -addr :8080":              true,
		"GOGC=50 sudo highwater watch 1234 --for 5m":                        true,
		"highwater export --pprof | go tool pprof -http=: -":                true,
		"highwater explain latest    the latest":                            true,
		"highwater explain a b c":                                           false,
		"highwater run --limits 256MiB -- ./server":                         false,
		"highwater run --for never -- ./server":                             false,
		"highwater explode latest":                                          false,
		"true && highwater list --nothing":                                  false,
		"highwater run --load 'a | highwater top --nothing' -- ./server":    true,
		"highwater watch --container NAMESPACE/POD/CONTAINER --for MINUTES": true,
		"highwater itself has 8 threads":                                    true,
	} {
		var err error
		for _, args := range calls(line) {
			err = errors.Join(err, callError(args, false))
		}
		if len(calls(line)) == 0 || (err == nil) != good {
			t.Errorf("%s: %v", line, err)
		}
	}
}
