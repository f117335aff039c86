// Picoshare shares files by link. They are uploaded by a browser's form or by
// curl, kept in one SQLite database in chunks, and served whole or by ranges
// until they expire. Everything but a download needs the shared secret.
//
//	picoshare -data DIR -secret SECRET
//
//	GET    /                  the page
//	POST   /login             secret=...; sets the cookie
//	POST   /logout
//	GET    /api/entries       what is stored, as JSON
//	POST   /api/entries       a multipart form: file, and expires as 36h
//	DELETE /api/entries/{id}
//	POST   /api/vacuum        gives disk space back
//	GET    /f/{id}            a download; no log-in, ranges allowed
//
// It is one of the cases: -fault gives it one of its known faults.
package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"log"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/highwater-go/highwater/cases/internal/faults"
	"github.com/highwater-go/highwater/cases/internal/probe"
	"github.com/highwater-go/highwater/cases/internal/program"
)

var known = []string{"form32", "formleak", "chunkge", "onetx", "vacuum"}

type options struct {
	address, debug string
	data, secret   string
	clean          time.Duration
	faults         *faults.Set
}

func main() { program.Main("picoshare", run) }

func run(ctx context.Context, args []string, _ io.Writer) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	if err := probe.Start(ctx, o.debug); err != nil {
		return err
	}
	l, err := program.Listen(o.address)
	if err != nil {
		return err
	}
	defer l.Close()
	temp := filepath.Join(o.data, "tmp")
	if err := ownTemp(temp); err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	s, err := openStore(filepath.Join(o.data, "picoshare.db"), o.faults)
	if err != nil {
		return err
	}
	defer s.close()
	log.Printf("listening on http://%s", l.Addr())
	var working errgroup.Group
	ctx, stop := context.WithCancel(ctx)
	working.Go(func() error { s.cleanEvery(ctx, o.clean); return nil })
	working.Go(func() error {
		defer stop()
		return program.Serve(ctx, l, newServer(s, o.secret, o.faults))
	})
	return working.Wait()
}

func parse(args []string) (*options, error) {
	o := new(options)
	f := flag.NewFlagSet("picoshare", flag.ContinueOnError)
	f.StringVar(&o.address, "addr", "127.0.0.1:8080", "loopback `address` to listen on")
	f.StringVar(&o.debug, "debug", "", "loopback `address` for profiles and metrics (default none)")
	f.StringVar(&o.data, "data", "picoshare-data", "`folder` of the database and of uploads under way")
	f.StringVar(&o.secret, "secret", os.Getenv("PICOSHARE_SECRET"), "the shared `secret` (or PICOSHARE_SECRET)")
	f.DurationVar(&o.clean, "clean", 7*time.Hour, "how often expired files are removed")
	o.faults = faults.Flag(f, known...)
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	if o.secret == "" || o.clean <= 0 || f.NArg() > 0 {
		return nil, errors.New("give the shared secret by -secret or PICOSHARE_SECRET, a -clean above 0, and nothing but flags")
	}
	return o, nil
}

// ownTemp makes dir the folder for temporary files, Go's and SQLite's, and
// clears it of those that a killed run left.
func ownTemp(dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.Setenv("TMPDIR", dir)
}
