package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// gone are phrases that readers who met Highwater for the first time had to read twice, one for
// each line, by the part that tells it: each was written again, and none is to come back.
const gone = `was putting together up to
goroutines may have been at work
had no page yet
values that are too large for the limit
and never came back
something that was still being filled
as a cache or a data set that fills up does
seen to end and leave its memory behind
and only became more
the first of them have waited
was allocated in their functions and is held
and nothing ends them
A goroutine leak, not calls in flight
of garbage pile up, because it aimed
the collector did not know it
it aims at 2x the live heap
The program steadily needs
the limit is too small for it
A spiral of the collector
it costs CPU, not memory
how fast is allocated drives
stood at its limit
that cannot be taken back
were heap that Go had freed
Go's own heap profile cannot show it
a hint, no proof
is no Go program
it came to its own end
Memory was never short
Healthy, as far as it was seen
Memory did not end it
evidence does not decide whether
was out of the ordinary
not a parent's and not the machine's
let go of what is kept
let each of them end
no help against a leak
may still be killed (live
predicted: lives
: keep less
keeps up to its argument
make it anew
a timer is made here each time
WHO counts them
the next one would have told
the kernel charges ahead
no mark was made
the rows to better than
programs beside this one
switched heap profiling off, and it runs already
the Go runtime  for itself
anonymous memory was, at the
too small a limit, page cache
by the program's last published profile
WHO held
grew %s of the %s
who holds the heap of
the last sample before it has to do
let go of %s
its allocations are sampled from now on, until it ends
so the ledger is the program's and not the kernel's
start the load: context canceled
it cannot be told whether they are Go programs
--at-most allows no more
it has capabilities that this has not
is none of what can be imported
no such moment:
cannot be copied within --max-stop
What works on this machine, and what each missing right costs
the last breath (a child was killed to test)
The evidence in other tools' forms
samples a second in calm
how many programs at the same time
watch also a program whose memory may not be read
capture who holds the heap
the cause is known and stays
programs that somebody else started
No GOGC or GOMEMLIMIT goes below
fit this limit in health
where it only just lives
no promise of time
so a run is lost with a chance
differ by no more than the sampling may err
of all lines the greatest change
lay over
moment read in full
How large was it, for how much of the time
Through which calls was it allocated
from the allocating line outwards
each is as wide as what would be garbage
the page becomes a difference to its end
wheel looks closer
The same as a table
Why do we say so?
It is being read.
At the top: all was read at once then`

func TestNoPhraseOfTheFirstReadersIsBack(t *testing.T) {
	phrases := strings.Split(gone, "\n")
	if len(phrases) != 96 {
		t.Fatalf("%d phrases", len(phrases))
	}
	texts := map[string]string{}
	for _, glob := range append(rendered, "../../../docs/*.md", "../../../docs/commands/*.md", "../../../docs/howto/*.md", "../../show/web/ui/*.tsx", "../../show/web/ui/*.ts", "../../../README.md") {
		files, err := filepath.Glob(glob)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", glob, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			texts[file] = string(text)
		}
	}
	files, err := filepath.Glob("../../*/*/*.go")
	for _, alone := range []string{"app", "cli"} {
		more, _ := filepath.Glob("../../" + alone + "/*.go")
		files = append(files, more...)
	}
	if err != nil || len(files) < 300 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	for _, file := range files {
		if !strings.HasSuffix(file, "_test.go") {
			texts[file] = literals(t, file)
		}
	}
	for file, text := range texts {
		for i, phrase := range phrases {
			if strings.Contains(text, phrase) {
				t.Errorf("%s: phrase %d is back: %s", file, i+1, phrase)
			}
		}
	}
}

// literals are the texts of a file of Go, one a line.
func literals(t *testing.T, file string) string {
	t.Helper()
	tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	ast.Inspect(tree, func(node ast.Node) bool {
		if lit, ok := node.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if text, err := strconv.Unquote(lit.Value); err == nil {
				all.WriteString(text + "\n")
			}
		}
		return true
	})
	return all.String()
}
