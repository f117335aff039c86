// Healthchain asks services whether they are well. While one is down, each failure
// wraps the one before, with the page that came, so that the report can tell when it
// began. Repaired, it keeps the first time and the last page.
package main

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"strings"
	"time"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

const services = 50

// failure is one answer that was not 200.
type failure struct {
	at     time.Time
	since  time.Time
	status int
	page   []byte
	cause  error
}

func (f *failure) Error() string {
	return fmt.Sprintf("status %d since %s", f.status, f.since.Format(time.RFC3339))
}
func (f *failure) Unwrap() error { return f.cause }

type check struct {
	address string
	last    error
	failed  int
	// times are of the answers of the last weeks: 256 KiB a service.
	times []int32
}

type checker struct {
	client   *http.Client
	checks   []*check
	repaired bool
}

func main() {
	f := frame.Parse()
	c := &checker{client: &http.Client{Transport: gateway{strings.Repeat("<p>The service cannot be reached.</p>\n", max(1, f.Unit/38))}}, repaired: f.Repaired}
	for n := range services {
		times := make([]int32, 64<<10)
		for i := range times {
			times[i] = int32(i * n)
		}
		c.checks = append(c.checks, &check{address: fmt.Sprintf("http://service-%d.example.org/health", n), times: times})
	}
	f.Each(func(i int) {
		if err := c.ask(c.checks[i%services]); err != nil && i%5000 == 0 {
			log.Printf("%s: %v", c.checks[i%services].address, err)
		}
	})
	f.Stay()
}

// gateway is what answers while all services are down.
type gateway struct{ page string }

func (g gateway) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusBadGateway, Status: "502 Bad Gateway", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, Request: r, ContentLength: int64(len(g.page)),
		Body: io.NopCloser(strings.NewReader(g.page)),
	}, nil
}

func (c *checker) ask(k *check) error {
	began := time.Now()
	answer, err := c.client.Get(k.address)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	k.times[k.failed%len(k.times)] = int32(time.Since(began))
	if answer.StatusCode == http.StatusOK {
		k.last, k.failed = nil, 0
		return nil
	}
	f := &failure{at: began, since: began, status: answer.StatusCode}
	if f.page, err = readPage(answer); err != nil {
		return err
	}
	var before *failure
	if errors.As(k.last, &before) {
		f.since = before.since
		if !c.repaired {
			f.cause = before // truth: keeps
		}
	}
	k.last, k.failed = f, k.failed+1 // truth: keeps
	return f
}

func readPage(answer *http.Response) ([]byte, error) {
	page := make([]byte, answer.ContentLength) // truth: allocates
	_, err := io.ReadFull(answer.Body, page)
	return page, err
}
