package truth

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

const source = `package main

type cache struct{ all [][]byte }

func main() {
	c := &cache{}
	c.add() // truth: calls, keeps
}

func (c *cache) add() {
	go func() { // truth: starts
		c.all = append(c.all, nil) // not truth: of this line
	}()
}
`

func TestMarksAreTheLinesOfTheSourceThatSayWhatTheyDo(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "store"), 0o700); err != nil {
		t.Fatal(err)
	}
	const library = "package store\n\nfunc (c *Cache[K, V]) Put() {\n\tc.n++ // truth: keeps\n}\n"
	if err := os.WriteFile(filepath.Join(dir, "store", "store.go"), []byte(library), 0o600); err != nil {
		t.Fatal(err)
	}
	marks, err := Marks(dir)
	want := []Mark{
		{[]string{"calls", "keeps"}, "main.main", "main.go", 7},
		{[]string{"starts"}, "main.(*cache).add", "main.go", 11},
		{[]string{"keeps"}, "store.(*Cache[...]).Put", "store/store.go", 4},
	}
	if err != nil || !reflect.DeepEqual(marks, want) {
		t.Fatalf("%v, %v; want %v", marks, err, want)
	}
	if some, err := Pick(marks, []string{"keeps"}); err != nil || !reflect.DeepEqual(some, []Mark{want[0], want[2]}) {
		t.Errorf("of keeps: %v, %v", some, err)
	}
	if all, err := Pick(marks, nil); err != nil || len(all) != 3 {
		t.Errorf("of all: %v, %v", all, err)
	}
	if none, err := Pick(marks, []string{"frees"}); err == nil {
		t.Errorf("a word that no line has: %v", none)
	}
}

func TestATruthIsReadAsItWasWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a"+Suffix)
	want := &Truth{Family: "pile", Classes: []string{"leak"}, Lines: []int{3}, Holder: []string{}, Says: []string{}, Run: Run{Limit: 7, Seconds: 2.5}}
	if err := want.Write(file); err != nil {
		t.Fatal(err)
	}
	got, err := Read(file)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	if all, err := All(filepath.Dir(file)); err != nil || len(all) != 1 || Recording(all[0]) != filepath.Join(filepath.Dir(file), "a.hwm") {
		t.Errorf("%v, %v", all, err)
	}
}

func TestALineOfAnyFileOfTheProgramMayBeNamedThatIsMarkedThere(t *testing.T) {
	one := &Truth{File: "corpus/made/a/main.go", Lines: []int{3}, Elsewhere: []Place{{"corpus/made/a/store/store.go", []int{7, 9}}}}
	for _, at := range []struct {
		file string
		line int
		want bool
	}{
		{"example.com/x/corpus/made/a/main.go", 3, true}, {"example.com/x/corpus/made/a/main.go", 7, false},
		{"example.com/x/corpus/made/a/store/store.go", 9, true}, {"corpus/made/a/store/store.go", 3, false},
		{"corpus/made/b/main.go", 3, false},
	} {
		if got := one.Marked(at.file, at.line); got != at.want {
			t.Errorf("%s:%d: %v", at.file, at.line, got)
		}
	}
}
