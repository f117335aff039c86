// Answers renders recordings of the corpus as a reader of `highwater explain` sees them, for
// docs/answers.md: some drawn by a seed, the others such that every verdict has its turn.
//
//	answers [-tool FILE] [-dir DIR,...] [-n N] [-random N] [-seed N] [-o FILE]
//
// What is there, right or wrong, is rendered as it is: paths of the machine alone are cut.
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/highwater-go/highwater/corpus/truth"
)

func main() {
	log.SetFlags(0)
	tool := flag.String("tool", "../bin/highwater", "the highwater to ask")
	dirs := flag.String("dir", "", "where the recordings are, separated by commas (default: highwater-corpus in the user's cache directory)")
	n := flag.Int("n", 30, "how many answers")
	random := flag.Int("random", 10, "how many of them are drawn by the seed")
	seed := flag.Uint64("seed", 1, "what they are drawn by")
	page := flag.String("o", "", "write to this file and not to the output")
	flag.Parse()
	text, err := render(*tool, *dirs, *n, *random, *seed)
	if err == nil && *page == "" {
		_, err = os.Stdout.WriteString(text)
	} else if err == nil {
		err = os.WriteFile(*page, []byte(text), 0o644)
	}
	if err != nil {
		log.Fatal("answers: ", err)
	}
}

// answer is one recording, what is true of it, and what is said of it.
type answer struct {
	path  string
	truth *truth.Truth
	class string
	text  string
}

func render(tool, dirs string, n, random int, seed uint64) (string, error) {
	tool, err := filepath.Abs(tool)
	if err != nil {
		return "", err
	}
	all, err := ask(tool, dirs)
	if err != nil {
		return "", err
	}
	drawn, others := draw(all, min(random, n), seed)
	others = turns(others, n-len(drawn))
	var out strings.Builder
	fmt.Fprintf(&out,
		"<!-- Generated from recordings of the corpus: make corpus, then make answers -->\n\n# %d answers, as they are printed\n\nPrograms of the [corpus](https://github.com/highwater-go/highwater/tree/main/corpus), each run once under `highwater run`, and what `highwater explain` prints. "+
			"The first %d are drawn by the seed %d, the others such that every verdict has its turn. Nothing is left out: an answer that is wrong stands here, too. How often that is so is in [truth-corpus.md](truth-corpus.md).\n",
		len(drawn)+len(others), len(drawn), seed)
	for _, a := range append(drawn, others...) {
		fmt.Fprintf(&out, "\n## %s\n\n%s\n\n```\n%s```\n", strings.TrimSuffix(filepath.Base(a.path), ".hwm"), a.true(), a.text)
	}
	return out.String(), nil
}

// true says what an answer should say.
func (a *answer) true() string {
	where := ""
	if len(a.truth.Lines) > 0 && a.truth.Faulty {
		where = fmt.Sprintf(", at %s:%d", filepath.Base(a.truth.File), a.truth.Lines[0])
	}
	if !a.truth.Faulty && len(a.truth.Classes) == 0 {
		return "True: healthy."
	}
	return "True: " + strings.Join(a.truth.Classes, " or ") + where + "."
}

// ask explains all recordings of the folders that have a truth.
func ask(tool, dirs string) (all []answer, err error) {
	if dirs == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return nil, err
		}
		dirs = filepath.Join(cache, "highwater-corpus")
	}
	state, err := os.MkdirTemp("", "answers")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(state)
	for _, dir := range strings.Split(dirs, ",") {
		truths, err := filepath.Glob(filepath.Join(dir, "*"+truth.Suffix))
		if err != nil {
			return nil, err
		}
		for _, file := range truths {
			a := answer{path: strings.TrimSuffix(file, truth.Suffix) + ".hwm"}
			if a.truth, err = truth.Read(file); err != nil {
				return nil, err
			}
			if err := a.ask(tool, state); err != nil {
				return nil, err
			}
			all = append(all, a)
		}
	}
	if len(all) == 0 {
		return nil, errors.New("no recordings: make corpus makes them")
	}
	slices.SortFunc(all, func(a, b answer) int { return cmp.Compare(filepath.Base(a.path), filepath.Base(b.path)) })
	return all, nil
}

// ask has no state: what was seen before on this machine is not told.
func (a *answer) ask(tool, state string) error {
	text, err := explain(tool, state, a.path)
	if err != nil {
		return err
	}
	a.text = workDirs.ReplaceAllString(programs.ReplaceAllString(string(text), "./"), "/tmp/")
	if text, err = explain(tool, state, a.path, "--json"); err != nil {
		return err
	}
	var said struct {
		Verdict struct {
			Class string `json:"class"`
		} `json:"verdict"`
	}
	err = json.Unmarshal(text, &said)
	a.class = said.Verdict.Class
	return err
}

// programs is where the runner keeps what it builds, by toolchain.
var programs = regexp.MustCompile(`/\S*/programs/[^/\s]+/`)

// workDirs are the directories in which the programs work.
var workDirs = regexp.MustCompile(`/\S*/run-[0-9]+/`)

// explain runs the tool where the recording lies. Its code 4, inconclusive, is an answer.
func explain(tool, state, path string, flags ...string) ([]byte, error) {
	c := exec.CommandContext(context.Background(), tool, append([]string{"explain", filepath.Base(path)}, flags...)...)
	c.Dir = filepath.Dir(path)
	c.Env = append(os.Environ(), "XDG_STATE_HOME="+state, "LC_ALL=C.UTF-8", "NO_COLOR=1")
	var complaint bytes.Buffer
	c.Stderr = &complaint
	out, err := c.Output()
	var ended *exec.ExitError
	if err != nil && (!errors.As(err, &ended) || ended.ExitCode() != 4) {
		return nil, fmt.Errorf("explain %s: %w: %s", path, err, bytes.TrimSpace(complaint.Bytes()))
	}
	return out, nil
}

// draw takes n at random.
func draw(all []answer, n int, seed uint64) (drawn, others []answer) {
	order := rand.New(rand.NewPCG(seed, 0)).Perm(len(all))
	for i, at := range order {
		if i < n {
			drawn = append(drawn, all[at])
		} else {
			others = append(others, all[at])
		}
	}
	return drawn, others
}

// turns takes n such that each class has one before any has two more.
func turns(all []answer, n int) (out []answer) {
	of := map[string][]answer{}
	var classes []string
	for _, a := range all {
		if of[a.class] == nil {
			classes = append(classes, a.class)
		}
		of[a.class] = append(of[a.class], a)
	}
	slices.Sort(classes)
	for round := 0; len(out) < min(n, len(all)); round++ {
		for _, class := range classes {
			if list := of[class]; round < len(list) && len(out) < n {
				out = append(out, list[round])
			}
		}
	}
	return out
}
