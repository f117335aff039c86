// Judge holds Highwater's answers against the truth of the corpus: it asks
// `highwater explain --json` about every recording that `run` has made, says of
// each whether the answer is right, and counts.
//
//	judge [-tool FILE] [-dir DIR] [-only FAMILY,...] [-wrong] [-o FILE]
//
// It makes no recording and changes none. A wrong answer is no error: the figures
// are what it is for.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/highwater-go/highwater/corpus/truth"
)

func main() {
	log.SetFlags(0)
	tool := flag.String("tool", "../bin/highwater", "the highwater to judge")
	dir := flag.String("dir", "", "where the recordings are (default: highwater-corpus in the user's cache directory)")
	only := flag.String("only", "", "families, separated by commas")
	wrong := flag.Bool("wrong", false, "print only the rows that are not right")
	page := flag.String("o", "", "write the figures to this file, in Markdown")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	all, err := judgeAll(ctx, *tool, *dir, strings.FieldsFunc(*only, func(r rune) bool { return r == ',' }))
	if err != nil {
		log.Fatal("judge: ", err)
	}
	printRows(all, *wrong)
	fmt.Print("\n", figures(all))
	if *page != "" {
		if err := os.WriteFile(*page, []byte(markdown(all)), 0o644); err != nil {
			log.Fatal("judge: ", err)
		}
	}
}

// judgeAll asks about all recordings in dir, two at a time, in the order of their
// names.
func judgeAll(ctx context.Context, tool, dir string, only []string) ([]*judgement, error) {
	truths, err := readAll(dir, only)
	if err != nil {
		return nil, err
	}
	all := make([]*judgement, len(truths))
	var workers sync.WaitGroup
	free := make(chan struct{}, 2)
	for i, f := range truths {
		workers.Add(1)
		free <- struct{}{}
		go func() {
			defer func() { <-free; workers.Done() }()
			a, err := ask(ctx, tool, truth.Recording(f.file))
			all[i] = &judgement{Truth: f.truth, answer: a, failed: err}
		}()
	}
	workers.Wait()
	return all, ctx.Err()
}

type read struct {
	file  string
	truth *truth.Truth
}

func readAll(dir string, only []string) (all []read, err error) {
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return nil, err
		}
		dir = filepath.Join(cache, "highwater-corpus")
	}
	files, err := truth.All(dir)
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		t, err := truth.Read(file)
		if err != nil {
			return nil, err
		}
		if len(only) == 0 || slices.Contains(only, t.Family) {
			all = append(all, read{file, t})
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no recordings in %s: make corpus makes them", dir)
	}
	return all, nil
}
