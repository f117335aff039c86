package main

import (
	"debug/buildinfo"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// truth is what is read here of a program's truth.json.
type truth struct {
	Name, Module, Before, After, Reference, Family, Trend string
	Classes, Functions, Files                             []string
	Lines                                                 []int
}

func truths(t *testing.T) map[string]truth {
	t.Helper()
	names, err := programs("..", nil)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]truth{}
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join("..", name, "truth.json"))
		if err != nil {
			t.Fatal(err)
		}
		var one truth
		if err := json.Unmarshal(text, &one); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all[name] = one
	}
	return all
}

func TestEachTruthNamesItsProgramAndWhereItsFaultIs(t *testing.T) {
	for name, one := range truths(t) {
		if one.Name != name || one.Family != "known/"+name {
			t.Errorf("%s: name %q, family %q", name, one.Name, one.Family)
		}
		if one.Reference == "" || one.Trend == "" || len(one.Classes)*len(one.Functions)*len(one.Files)*len(one.Lines) == 0 {
			t.Errorf("%s: something is missing: %+v", name, one)
		}
	}
}

func TestEachProgramRequiresTheVersionsOfItsTruth(t *testing.T) {
	for name, one := range truths(t) {
		for file, version := range map[string]string{"before.mod": one.Before, "after.mod": one.After} {
			text, err := os.ReadFile(filepath.Join("..", name, file))
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Contains(strings.Fields(strings.ReplaceAll(string(text), one.Module+" ", one.Module+"@")), one.Module+"@"+version) {
				t.Errorf("%s: %s does not require %s %s", name, file, one.Module, version)
			}
		}
	}
}

func TestABuiltPairDiffersInTheModuleThatHasTheFault(t *testing.T) {
	if testing.Short() {
		t.Skip("builds other people's modules")
	}
	dir, one := t.TempDir(), truths(t)["corscommas"]
	if err := run("..", dir, []string{one.Name}); err != nil {
		t.Fatal(err)
	}
	for which, want := range map[string]string{"before": one.Before, "after": one.After} {
		info, err := buildinfo.ReadFile(filepath.Join(dir, one.Name+"-"+which))
		if err != nil {
			t.Fatal(err)
		}
		if len(info.Deps) != 1 || info.Deps[0].Path != one.Module || info.Deps[0].Version != want {
			t.Errorf("%s has %+v, want %s %s", which, info.Deps, one.Module, want)
		}
	}
}

func TestAnUnknownNameIsRefusedWithTheNamesThereAre(t *testing.T) {
	err := run("..", t.TempDir(), []string{"nothing"})
	if err == nil || !strings.Contains(err.Error(), "jwtdots") {
		t.Errorf("got %v", err)
	}
}
