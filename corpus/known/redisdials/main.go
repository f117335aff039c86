// Redisdials is a site whose sessions are in Redis, and Redis is down: each request asks, gets an
// error and goes on as a guest. The site keeps its pages, 25 MiB.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

type site struct {
	sessions *redis.Client
	pages    map[string]string
}

func newSite(addr string) *site {
	s := &site{pages: map[string]string{}}
	s.sessions = redis.NewClient(&redis.Options{Addr: addr, PoolSize: 20, MaxRetries: -1, DialerRetries: 1, DialTimeout: time.Second})
	for i := range 5000 {
		s.pages[fmt.Sprint(i)] = strings.Repeat("p", 5000)
	}
	return s
}

// serve is one request.
func (s *site) serve(ctx context.Context, session, page string) (string, error) {
	user, err := s.sessions.Get(ctx, session).Result()
	var down net.Error
	if err != nil && !errors.As(err, &down) {
		return "", err
	}
	return user + s.pages[page], nil
}

func main() {
	last := flag.Duration("for", 25*time.Second, "how long the load lasts")
	flag.Parse()
	// A port that nobody listens at.
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	l.Close()
	redis.SetLogger(silent{})
	s, end := newSite(l.Addr().String()), time.Now().Add(*last)
	var clients sync.WaitGroup
	for range 4 {
		clients.Go(func() {
			tick := time.NewTicker(time.Millisecond)
			defer tick.Stop()
			for n := 0; time.Now().Before(end); {
				<-tick.C
				for range 5 {
					n++
					if _, err := s.serve(context.Background(), "session", fmt.Sprint(n%5000)); err != nil {
						log.Print(err)
						return
					}
				}
			}
		})
	}
	clients.Wait()
}

type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}
