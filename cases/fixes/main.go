// Fixes runs what explain proposes. Each program is run under a limit that it does not
// survive, explain says what would help, and highwater try runs each proposed setting and
// limit three times for real: what is said to survive has to.
//
//	fixes [-highwater PATH] [-dir DIR] [-only TEXT]
//
// It writes a table and exits with 1 if a fix was said to survive and did not.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
)

func main() {
	var e experiment
	flag.StringVar(&e.highwater, "highwater", "../bin/highwater", "`path` of the tool")
	flag.StringVar(&e.dir, "dir", "", "`directory` of the recordings (default: a new one)")
	only := flag.String("only", "", "run what has this `text` in its command")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := e.all(ctx, *only); err != nil {
		fmt.Fprintln(os.Stderr, "fixes:", err)
		os.Exit(1)
	}
}

// experiment is all programs, one after the other.
type experiment struct {
	highwater, dir         string
	said, survived, silent int // fixes said to survive, those that did in all runs; programs without one
	unseen, unseenSurvived int // the same of programs that need more later
}

// answer is what of highwater.explain/1 is needed here.
type answer struct {
	Outcome struct {
		State string `json:"state"`
	} `json:"outcome"`
	Verdict struct {
		Class string `json:"class"`
	} `json:"verdict"`
	Fixes    []fix `json:"fixes"`
	WontHelp []struct {
		Text   string `json:"text"`
		Reason string `json:"reason"`
	} `json:"wont_help"`
	NotPredicted string `json:"not_predicted"`
}

type fix struct {
	Text    string `json:"text"`
	Kind    string `json:"kind"`
	State   string `json:"state"`
	Outlook string `json:"outlook"`
}

func (e *experiment) all(ctx context.Context, only string) (err error) {
	if e.dir == "" {
		if e.dir, err = os.MkdirTemp("", "fixes"); err != nil {
			return err
		}
		defer os.RemoveAll(e.dir)
	}
	if e.highwater, err = filepath.Abs(e.highwater); err != nil {
		return err
	}
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", filepath.Join(e.dir, "appetite"), "./fixes/appetite").CombinedOutput(); err != nil {
		return fmt.Errorf("build appetite: %w: %s", err, out)
	}
	for i, s := range subjects() {
		if !strings.Contains(s.String(), only) {
			continue
		}
		if err := e.one(ctx, s, fmt.Sprintf("s%d", i)); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	fmt.Printf("\n%d of %d fixes that were said to survive did, in all of three runs each; of %d programs none was said\n", e.survived, e.said, e.silent)
	if e.unseen > 0 {
		fmt.Printf("of programs that need more later than they had when they were killed: %d of %d\n", e.unseenSurvived, e.unseen)
	}
	if e.survived < e.said {
		return errors.New("a fix was said to survive and did not")
	}
	return nil
}

// one runs a program, asks what would help, and tries that.
func (e *experiment) one(ctx context.Context, s subject, name string) error {
	file := filepath.Join(e.dir, name+".hwm")
	run := exec.CommandContext(ctx, e.highwater, append([]string{"run", "-q", "--limit", fmt.Sprintf("%dMiB", s.limit), "-o", file, "--",
		filepath.Join(e.dir, "appetite")}, s.args...)...)
	run.Env = append(os.Environ(), s.env...)
	var exit *exec.ExitError
	if out, err := run.CombinedOutput(); err != nil && !errors.As(err, &exit) {
		return fmt.Errorf("%w: %s", err, out)
	}
	before, err := e.explain(ctx, file)
	if err != nil {
		return err
	}
	predicted := map[string]bool{}
	for _, f := range before.Fixes {
		if f.Kind != "code" {
			predicted[f.Text] = f.State == "predicted"
		}
	}
	fmt.Printf("%-52s %-8s %-12s", s, before.Outcome.State, before.Verdict.Class)
	if len(predicted) == 0 {
		e.silent++
		fmt.Printf(" nothing said: %s\n", before.reason())
		return nil
	}
	fmt.Println()
	try := exec.CommandContext(ctx, e.highwater, "try", "-o", filepath.Join(e.dir, name+"-try"), file)
	if out, err := try.CombinedOutput(); err != nil {
		fmt.Printf("    not tried: %s\n", strings.TrimSpace(string(out[max(0, len(out)-200):])))
		return nil
	}
	return e.count(ctx, s, file, predicted)
}

// count compares what was said with what came of it.
func (e *experiment) count(ctx context.Context, s subject, file string, predicted map[string]bool) error {
	after, err := e.explain(ctx, file)
	if err != nil {
		return err
	}
	came := map[string]string{}
	for _, f := range after.Fixes {
		came[f.Text] = f.State + ": " + f.Outlook
	}
	for _, w := range after.WontHelp {
		came[w.Text] = w.Reason
	}
	for text, sure := range predicted {
		said := "not predicted"
		if sure {
			said = "said to survive"
			e.tally(s, strings.HasPrefix(came[text], "proved"))
		}
		fmt.Printf("    %-40s %-16s %s\n", text, said, came[text])
	}
	return nil
}

func (e *experiment) tally(s subject, survived bool) {
	n := 0
	if survived {
		n = 1
	}
	if s.unseen {
		e.unseen, e.unseenSurvived = e.unseen+1, e.unseenSurvived+n
		return
	}
	e.said, e.survived = e.said+1, e.survived+n
}

// reason is why nothing was said.
func (a *answer) reason() string {
	var parts []string
	for _, w := range a.WontHelp {
		parts = append(parts, w.Text+": "+w.Reason)
	}
	if a.NotPredicted != "" {
		parts = append(parts, a.NotPredicted)
	}
	if len(parts) == 0 {
		return "NO REASON"
	}
	return strings.Join(parts, "; ")
}

func (e *experiment) explain(ctx context.Context, file string) (*answer, error) {
	out, err := exec.CommandContext(ctx, e.highwater, "explain", "--json", file).Output()
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 4) {
		return nil, fmt.Errorf("explain %s: %w", file, err)
	}
	a := &answer{}
	return a, json.Unmarshal(out, a)
}
