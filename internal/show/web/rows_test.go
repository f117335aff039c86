package web

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// Every row of a ledger is explained on the page, has its place in the picture over time, and a
// colour in light and in dark.
func TestEveryRowHasItsWordsItsPlaceAndItsColours(t *testing.T) {
	t.Parallel()
	css, err := os.ReadFile("ui/page.css")
	if err != nil {
		t.Fatal(err)
	}
	notLetters := regexp.MustCompile(`[^a-z]+`)
	for _, row := range sample.RowNames() {
		if d := definitions[row]; d.means == "" || d.group == "" {
			t.Errorf("%s: the page does not say what it is (definitions.go)", row)
		}
		if !slices.Contains(layerOrder, row) {
			t.Errorf("%s: it has no place over time (stacked.go)", row)
		}
		slug := strings.TrimSuffix(notLetters.ReplaceAllString(strings.ToLower(row), "-"), "-")
		for part, want := range map[string]int{"--row-" + slug + ": #": 2, "--on-" + slug + ": #": 2, "\n.row-" + slug + " {": 1} {
			if n := strings.Count(string(css), part); n != want {
				t.Errorf("%s: page.css has %q %d times, want %d", row, part, n, want)
			}
		}
	}
	if len(definitions) != len(sample.RowNames()) || len(layerOrder) != len(sample.RowNames())+1 {
		t.Errorf("%d rows, %d definitions, %d places", len(sample.RowNames()), len(definitions), len(layerOrder))
	}
}

// The list that tests range over has every constant of internal/words/sample that names a row.
func TestTheListOfRowsIsWhole(t *testing.T) {
	t.Parallel()
	tree, err := parser.ParseFile(token.NewFileSet(), "../../words/sample/ledger.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	ast.Inspect(tree, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 || !strings.HasPrefix(spec.Names[0].Name, "Row") {
			return true
		}
		name, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		n++
		if name != sample.RowUnexplained && !slices.Contains(sample.RowNames(), name) {
			t.Errorf("%s is not in RowNames", spec.Names[0].Name)
		}
		return true
	})
	if n != len(sample.RowNames())+1 {
		t.Errorf("%d constants, %d names", n, len(sample.RowNames()))
	}
}
