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
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/highwater-go/highwater/cases/internal/faults"
	"github.com/highwater-go/highwater/cases/internal/probe"
)

var known = []string{"form32", "formleak", "chunkge", "onetx", "vacuum"}

type options struct {
	address, debug string
	data, secret   string
	clean          time.Duration
	faults         *faults.Set
}

func main() {
	var o options
	flag.StringVar(&o.address, "addr", "127.0.0.1:8080", "loopback `address` to listen on")
	flag.StringVar(&o.debug, "debug", "", "loopback `address` for profiles and metrics (default none)")
	flag.StringVar(&o.data, "data", "picoshare-data", "`folder` of the database and of uploads under way")
	flag.StringVar(&o.secret, "secret", os.Getenv("PICOSHARE_SECRET"), "the shared `secret` (or PICOSHARE_SECRET)")
	flag.DurationVar(&o.clean, "clean", 7*time.Hour, "how often expired files are removed")
	o.faults = faults.Flag(flag.CommandLine, known...)
	flag.Parse()
	if err := run(o); err != nil {
		log.Fatal(err)
	}
}

func run(o options) error {
	if o.secret == "" {
		return errors.New("no shared secret: give one by -secret or PICOSHARE_SECRET")
	}
	if err := probe.Loopback(o.address); err != nil {
		return err
	}
	if _, err := probe.Serve(o.debug); err != nil {
		return err
	}
	if err := ownTemp(filepath.Join(o.data, "tmp")); err != nil {
		return err
	}
	s, err := openStore(filepath.Join(o.data, "picoshare.db"), o.faults)
	if err != nil {
		return err
	}
	defer s.close()
	asked, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	cleaned := make(chan struct{})
	go func() { defer close(cleaned); s.cleanEvery(asked, o.clean) }()
	err = serve(asked, o.address, newServer(s, o.secret, o.faults))
	stop()
	<-cleaned
	return err
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

// serve answers until ctx ends, and lets the requests under way finish.
func serve(ctx context.Context, address string, h http.Handler) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	log.Printf("listening on http://%s", l.Addr())
	server := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	patience, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := server.Shutdown(patience); !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return server.Close()
}
