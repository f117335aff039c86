// Load uploads files to a picoshare, downloads them again whole and by ranges,
// compares every byte, and says how long each request took.
//
//	load -url http://127.0.0.1:8080 -secret SECRET -uploads 3 -size 450 -parallel 3 -downloads 1 -ranges 20
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/highwater-go/highwater/cases/internal/latency"
)

type options struct {
	url, secret                          string
	uploads, parallel, downloads, ranges int
	size                                 int64 // bytes
	keep                                 bool
}

func main() {
	var o options
	flag.StringVar(&o.url, "url", "http://127.0.0.1:8080", "where picoshare answers")
	flag.StringVar(&o.secret, "secret", os.Getenv("PICOSHARE_SECRET"), "its shared secret (or PICOSHARE_SECRET)")
	flag.IntVar(&o.uploads, "uploads", 3, "files to upload")
	flag.IntVar(&o.parallel, "parallel", 3, "requests at once")
	flag.IntVar(&o.downloads, "downloads", 1, "whole downloads of each file")
	flag.IntVar(&o.ranges, "ranges", 20, "downloads of 1 MiB from somewhere in each file")
	size := flag.Int64("size", 50, "MiB of each file")
	flag.BoolVar(&o.keep, "keep", false, "leave the files there")
	flag.Parse()
	o.size = *size << 20
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, o options) error {
	c, err := login(ctx, o.url, o.secret)
	if err != nil {
		return err
	}
	files := make([]file, o.uploads)
	for i := range files {
		files[i].content = content{seed: uint64(i + 1), size: o.size}
	}
	err = errors.Join(
		step(ctx, o, "upload", len(files), func(ctx context.Context, i int) (err error) {
			files[i].id, err = c.upload(ctx, fmt.Sprintf("file-%d", i+1), files[i].content)
			return err
		}),
		step(ctx, o, "download", len(files)*o.downloads, func(ctx context.Context, i int) error {
			f := files[i%len(files)]
			return c.compare(ctx, f, 0, f.content.size)
		}),
		step(ctx, o, "range", len(files)*o.ranges, func(ctx context.Context, i int) error {
			f := files[i%len(files)]
			from := int64(splitmix(uint64(i)) % uint64(max(f.content.size-1<<20, 1)))
			return c.compare(ctx, f, from, min(1<<20, f.content.size-from))
		}),
	)
	if o.keep {
		return err
	}
	return errors.Join(err, c.removeAll(files))
}

// step does n requests, o.parallel at once, and reports them.
func step(ctx context.Context, o options, what string, n int, do func(context.Context, int) error) error {
	if n == 0 {
		return nil
	}
	var took latency.Log
	var g errgroup.Group
	g.SetLimit(o.parallel)
	began := time.Now()
	for i := range n {
		g.Go(func() error {
			start := time.Now()
			err := do(ctx, i)
			took.Add(time.Since(start), err)
			return err
		})
	}
	err := g.Wait()
	took.Report(time.Since(began)).Write(os.Stdout, what)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}
