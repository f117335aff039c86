package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"
)

// mirror copies ranges from an origin into a store, a prefix at a time.
type mirror struct {
	client  *http.Client
	origin  string // http://HOST:PORT
	store   string // http://HOST:PORT/BUCKET
	workers int
	digits  int  // of a range's name, 5 for the real ones
	collect bool // collect garbage after each prefix

	arena   *arena
	latency func(time.Duration) // of each range, nil if nobody asks
}

// newClient makes a client for so many workers. The default of net/http is to
// keep two idle connections to a host: with 64 workers, most connections are
// closed after one answer, and the next request dials. Each dial leaves a
// reader and a writer of 4 KiB and about thirty smaller things behind.
func newClient(workers int, defaults bool) *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone() // fault: defaults
	transport.Proxy = nil
	if !defaults {
		transport.MaxIdleConnsPerHost = workers
	}
	return &http.Client{Transport: transport}
}

// run copies the first n prefixes: 0 is "00", 255 is "ff". It ends at the first
// error; what was stored before it stays stored.
func (m *mirror) run(ctx context.Context, n int, done func(prefix string, bytes int)) error {
	for p := range n {
		prefix := fmt.Sprintf("%02X", p)
		size, err := m.copyPrefix(ctx, prefix)
		if err != nil {
			return fmt.Errorf("prefix %s: %w", prefix, err)
		}
		done(prefix, size)
		// Here nothing but the arena is live: the best moment to collect.
		if m.collect {
			runtime.GC()
		}
	}
	return nil
}

// copyPrefix fetches all ranges of a prefix, packs them, and stores the archive.
func (m *mirror) copyPrefix(ctx context.Context, prefix string) (int, error) {
	name := func(i int) string { return fmt.Sprintf("%s%0*X", prefix, m.digits-len(prefix), i) }
	if err := m.fetchAll(ctx, name); err != nil {
		return 0, err
	}
	archive, err := m.arena.pack(name)
	if err != nil {
		return 0, fmt.Errorf("pack: %w", err)
	}
	return len(archive), m.put(ctx, prefix+".tar", archive)
}

// fetchAll fills the arena, m.workers ranges at a time.
func (m *mirror) fetchAll(ctx context.Context, name func(i int) string) error {
	group, fetching := errgroup.WithContext(ctx)
	group.SetLimit(m.workers)
	for i := range m.arena.ranges {
		if fetching.Err() != nil {
			break
		}
		group.Go(func() error {
			if err := m.fetch(fetching, i, name(i)); err != nil {
				return fmt.Errorf("range %s: %w", name(i), err)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return ctx.Err()
}

// fetch puts one range in its place.
func (m *mirror) fetch(ctx context.Context, i int, name string) error {
	start := time.Now()
	request, err := http.NewRequestWithContext(ctx, "GET", m.origin+"/range/"+name, nil)
	if err != nil {
		return err
	}
	response, err := m.client.Do(request) // also: defaults
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the origin answers %s", response.Status)
	}
	if err := m.arena.fill(i, response.Body, response.ContentLength); err != nil {
		return err
	}
	if m.latency != nil {
		m.latency(time.Since(start))
	}
	return nil
}

// put writes one object. The store answers when it has all of it.
func (m *mirror) put(ctx context.Context, name string, content []byte) error {
	request, err := http.NewRequestWithContext(ctx, "PUT", m.store+"/"+name, bytes.NewReader(content))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/x-tar")
	response, err := m.client.Do(request)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("store: it answers %s", response.Status)
	}
	return nil
}
