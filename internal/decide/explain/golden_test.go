package explain

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEachSceneHasItsAnswer compares whole answers; UPDATE=1 rewrites them.
// Package report prints the same files.
func TestEachSceneHasItsAnswer(t *testing.T) {
	for name := range scenes {
		t.Run(name, func(t *testing.T) {
			text, err := json.MarshalIndent(answer(t, name), "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("testdata", strings.NewReplacer(" ", "-", ",", "", "'", "").Replace(name)+".json")
			if os.Getenv("UPDATE") != "" {
				if err := os.WriteFile(path, append(text, '\n'), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if line, got, want := firstDifference(string(text), strings.TrimSuffix(string(want), "\n")); line > 0 {
				t.Errorf("%s:%d\n got %s\nwant %s", path, line, got, want)
			}
		})
	}
}

func firstDifference(got, want string) (int, string, string) {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := 0; i < max(len(g), len(w)); i++ {
		a, b := "(end)", "(end)"
		if i < len(g) {
			a = g[i]
		}
		if i < len(w) {
			b = w[i]
		}
		if a != b {
			return i + 1, a, b
		}
	}
	return 0, "", ""
}
