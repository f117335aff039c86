package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/highwater-go/highwater/corpus/truth"
)

// groups are of the known programs: open ones were there while rules were made; sealed ones were not asked about before
// the rules were frozen, "sealed" until 23 November 2026.
var groups = []string{"open", "sealed", "sealed 2", "sealed 3"}

const limited = "-limit" // the end of a run's name that is under a limit

// program is a truth.json.
type program struct {
	Name, Family, Group, Trend        string
	Classes, Functions, Files, Holder []string
	Lines                             []int
	Run                               struct {
		Seconds     float64
		Args        []string
		LimitKilled string   `json:"limit_killed"`
		ArgsKilled  []string `json:"args_killed"`
	}
}

// choose reads the programs in from of a group, or all, and of those the named ones.
func choose(from, group string, only []string) (list []*program, err error) {
	if group != "" && !slices.Contains(groups, group) {
		return nil, fmt.Errorf("no group %q: there are %s", group, strings.Join(groups, ", "))
	}
	files, err := filepath.Glob(filepath.Join(from, "*", "truth.json"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		p, err := read(file)
		if err != nil {
			return nil, err
		}
		if (group == "" || p.Group == group) && (len(only) == 0 || slices.Contains(only, p.Name)) {
			list = append(list, p)
		}
	}
	if len(list) == 0 || len(only) > len(list) {
		return nil, fmt.Errorf("%d of these programs are in %s, group %q, only %v: give corpus/known with -from", len(list), from, group, only)
	}
	return list, nil
}

func read(file string) (*program, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	p := new(program)
	if err := json.Unmarshal(text, p); err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	return p, nil
}

// runsOf are the four runs of each program, those with room first.
func runsOf(programs []*program) (runs []*truth.Truth, err error) {
	var tight []*truth.Truth
	for _, p := range programs {
		limit, err := mebibytes(p.Run.LimitKilled)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
		for _, faulty := range []bool{true, false} {
			runs = append(runs, p.run(faulty, 0, p.Run.Args))
			tight = append(tight, p.run(faulty, limit, p.Run.ArgsKilled))
		}
	}
	return append(runs, tight...), nil
}

// run is what is true of one run. Of a repaired program nothing is said about its trend:
// its load still comes and goes.
func (p *program) run(faulty bool, limit int64, args []string) *truth.Truth {
	t := &truth.Truth{
		Family: p.Family, Name: p.Name + "-after", Faulty: faulty, Classes: []string{"healthy", "churn"},
		File: p.Name + "/main.go", Lines: []int{}, Holder: []string{}, Says: []string{}, Trend: "unknown", Readings: 3,
		Run: truth.Run{LimitKind: "none", Limit: limit, Background: "own", Seconds: p.Run.Seconds, Command: strings.Join(args, " ")},
	}
	if faulty {
		t.Name, t.Classes, t.Trend, t.NeedsLine = p.Name+"-before", p.Classes, p.Trend, true
		t.Function, t.Functions, t.Files = p.Functions[0], p.Functions, p.Files
		t.Lines, t.Holder = p.Lines, append(t.Holder, p.Holder...)
	}
	if limit > 0 {
		t.Name += limited
		t.Run.LimitKind = map[bool]string{true: "killed", false: "near"}[faulty]
		if t.Trend == "comes-and-goes" {
			t.Trend = "unknown" // it ended while it was there
		}
	}
	return t
}

// mebibytes reads a limit: "192MiB".
func mebibytes(text string) (int64, error) {
	number, ok := strings.CutSuffix(text, "MiB")
	n, err := strconv.ParseInt(number, 10, 32)
	if !ok || err != nil || n <= 0 {
		return 0, fmt.Errorf("the limit %q is not as 192MiB is", text)
	}
	return n << 20, nil
}
