// Tuning holds the predictions of highwater tune against runs with the settings
// that were predicted, and writes docs/research/tune.md.
//
//	tuning [-highwater PATH] [-dir DIR] [-runs 3] [-only NAME] > tune.md
//
// Each subject is run once as it is; from that recording everything is predicted.
// Then it is run with every setting. Recordings stay in DIR, and those that are
// there already are not made again: what was interrupted goes on.
package main

import (
	"context"
	_ "embed"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
)

//go:embed head.md
var head string

func main() {
	t := trial{out: os.Stdout}
	flag.StringVar(&t.highwater, "highwater", "highwater", "`path` of the tool")
	flag.StringVar(&t.dir, "dir", "", "`directory` of the recordings (default: a new one)")
	flag.IntVar(&t.runs, "runs", 3, "runs of each setting")
	only := flag.String("only", "", "one subject: its table, and nothing else")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := t.all(ctx, *only); err != nil {
		fmt.Fprintln(os.Stderr, "tuning:", err)
		os.Exit(1)
	}
}

// all builds the subjects and measures them one after the other.
func (t *trial) all(ctx context.Context, only string) error {
	bin, err := os.MkdirTemp("", "tuning")
	if err != nil {
		return err
	}
	defer os.RemoveAll(bin)
	if t.dir == "" {
		t.dir = bin
	}
	if only == "" {
		fmt.Fprint(t.out, head)
	}
	for _, s := range subjects {
		if only != "" && only != s.name {
			continue
		}
		path := filepath.Join(bin, filepath.Base(s.pkg))
		programs := maps.Clone(s.beside)
		if programs == nil {
			programs = map[string]string{}
		}
		programs[filepath.Base(s.pkg)] = s.pkg
		for name, pkg := range programs {
			if err := build(ctx, filepath.Join(bin, name), pkg); err != nil {
				return err
			}
		}
		if err := t.measure(ctx, s, path); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}
