package listing

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/answer/moment"
	"github.com/highwater-go/highwater/internal/aside/hwtest/recorded"
	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/files/source"
	"github.com/highwater-go/highwater/internal/words/sample"
)

func list(t *testing.T, path, at, name string) (*Listing, error) {
	t.Helper()
	r := recorded.Open(t, path)
	s, err := moment.Load(r, path, at, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	base, err := s.Baseline(r)
	if err != nil {
		t.Fatal(err)
	}
	return Of(s, base, name)
}

func TestAListingHasTheFiguresOfEachLine(t *testing.T) {
	lines := []sample.Frame{
		{Func: "example.org/app/cache.(*Map).Put", File: "/b/cache.go", Line: 4, StartLine: 2},
		{Func: "example.org/app/cache.(*Map).Put", File: "/b/cache.go", Line: 6, StartLine: 2},
		{Func: "example.org/app/cache.(*Map).PutAll", File: "/b/cache.go", Line: 9, StartLine: 8},
	}
	path := recorded.Steps(t, "app", "b1", lines, recorded.Step{1, 5, 0}, recorded.Step{40, 5, 7})
	l, err := list(t, path, "last", "cache.(*Map).Put")
	if err != nil || len(l.Functions) != 1 || l.Side.View != "published" || len(l.Others) != 0 {
		t.Fatalf("%+v, %v: the exact name is one function", l, err)
	}
	f := l.Functions[0]
	if len(f.Lines) != 2 || f.Lines[0].Line != 4 || f.Lines[0].Growth <= int64(38*sample.MiB) || f.Lines[1].Growth != 0 || f.Lines[1].Held < int64(5*sample.MiB) ||
		f.Held != f.Lines[0].Held+f.Lines[1].Held || f.Growth != f.Lines[0].Growth || f.Start != 2 {
		t.Errorf("%+v", f)
	}
	text := "package cache\nfunc (m *Map) Put(k string) {\n\tv := k\n\tm.a = append(m.a, v)\n\n\tm.b = copyOf(v)\n}\nfunc (m *Map) PutAll() {\n}\n"
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "cache.go"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	l.FillIn(&source.Finder{Places: source.Places{Dir: dir}}, time.Now().Add(time.Hour))
	if f := l.Functions[0]; f.Problem != "" || len(f.Lines) != 6 || f.Lines[2].Text != "\tm.a = append(m.a, v)" || f.Lines[2].Held == 0 || f.Lines[0].Held != 0 ||
		len(l.Notes) != 1 {
		t.Errorf("%+v, %q", f, l.Notes)
	}
	l, _ = list(t, path, "last", "cache.(*Map).Put")
	l.FillIn(&source.Finder{Places: source.Places{Dir: dir}}, recorded.Began)
	if !strings.Contains(strings.Join(l.Notes, "\n"), "cache.go was changed after the program began") {
		t.Errorf("%q", l.Notes)
	}
	l, _ = list(t, path, "last", "cache.(*Map).Put")
	l.FillIn(&source.Finder{}, recorded.Began)
	if f := l.Functions[0]; !strings.Contains(f.Problem, "not on this machine") || len(f.Lines) != 2 {
		t.Errorf("without source the figures stay: %+v", f)
	}
}

func TestANameStandsForFunctions(t *testing.T) {
	path := recorded.Steps(t, "app", "b1", []sample.Frame{recorded.Line("a.Put", 1), recorded.Line("b.Put", 2), recorded.Line("c.PutAll", 3),
		recorded.Line("d.Put", 4), recorded.Line("e.Get", 5)}, recorded.Step{9, 8, 7, 6, 5})
	for name, want := range map[string]string{
		"a.Put":    "a.Put",
		"Put":      "a.Put b.Put c.PutAll + d.Put",
		"/[ce]\\.": "c.PutAll e.Get",
	} {
		l, err := list(t, path, "last", name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for _, f := range l.Functions {
			got = append(got, explain.ShortFunc(f.Function))
		}
		for _, f := range l.Others {
			got = append(got, "+", explain.ShortFunc(f))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s is %q, want %s", name, got, want)
		}
	}
	for name, want := range map[string]string{"Delete": "the most was under a.Put, b.Put", "((": "no regular expression"} {
		if _, err := list(t, path, "last", name); !errors.Is(err, ErrNoFunction) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	never := recorded.Steps(t, "app", "b1", []sample.Frame{recorded.Line("a.Put", 1)}, recorded.Step{-1})
	if _, err := list(t, never, "last", "Put"); !errors.Is(err, ErrNoFunction) || !strings.Contains(err.Error(), "the heap profile of app was not read") {
		t.Errorf("%v", err)
	}
}
