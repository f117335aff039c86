package arch

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

const (
	// mostColumns is what a line may have, a tab counted as one.
	mostColumns = 160
	// besideText is what a longer line may have beside the one string that makes it long: a string stays whole, so
	// that it is found by what it says.
	besideText = 60
)

// watched are programs whose lines are in recordings and in what is known of them: they stay as they are.
var watched = []string{"testdata", "testprog", "made", "known", "heldout", "trafficagent", "picoshare", "raftcache", "rangemirror", "objectsync",
	"node_modules"}

func TestLinesAreNotLong(t *testing.T) {
	files, top := 0, root(t)
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != top && (slices.Contains(watched, d.Name()) || strings.HasPrefix(d.Name(), ".") || strings.HasPrefix(d.Name(), "set")):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, ".pb.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		for _, n := range longLines(text) {
			t.Errorf("%s:%d has more than %d columns", path, n, mostColumns)
		}
		return nil
	})
	if err != nil || files < 1000 {
		t.Fatalf("%d files, %v", files, err)
	}
}

// longLines are the numbers of a file's lines that are too long, but for text.
func longLines(text []byte) (long []int) {
	var s scanner.Scanner
	set := token.NewFileSet()
	file := set.AddFile("", -1, len(text))
	s.Init(file, text, nil, 0)
	spared := make(map[int]int) // by line, columns of its longest string
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			break
		}
		if tok != token.STRING {
			continue
		}
		for i, part := range strings.Split(lit, "\n") {
			n := file.Line(pos) + i
			spared[n] = max(spared[n], utf8.RuneCountInString(part))
			if i > 0 && i < strings.Count(lit, "\n") {
				spared[n] = 1 << 20 // all of it is text
			}
		}
	}
	for i, l := range strings.Split(string(text), "\n") {
		if n := utf8.RuneCountInString(l); n > mostColumns && n-spared[i+1] > besideText {
			long = append(long, i+1)
		}
	}
	return long
}

func TestALongLineIsFound(t *testing.T) {
	word, name := strings.Repeat("x", 170), strings.Repeat("y", 90)
	for text, want := range map[string]int{
		"var a = " + word: 1, "// " + word: 1, "var a = \"" + word + "\"": 0, "var a = `\n" + word + "\n`": 0,
		"var " + name + " = \"" + word + "\"": 1, "var a = \"" + name + "\" + \"" + name + "\"": 1,
	} {
		if got := longLines([]byte("package p\n\n" + text + "\n")); len(got) != want {
			t.Errorf("%.30s...: %v", text, got)
		}
	}
}
