// Crawljar compares the prices of shops. It asks each shop once, with one client for all
// of them, and the client has a cookie jar, since some shops want their cookie back: the
// jar keeps the cookies of every shop. Repaired, there is a new jar after 400 shops.
package main

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/cookiejar"
	"strings"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

// shops answers in place of the network.
type shops struct{ size int }

func (s *shops) RoundTrip(r *http.Request) (*http.Response, error) {
	var cart strings.Builder
	cart.Grow(s.size) // truth: allocates
	cart.WriteString("cart=")
	for cart.Len() < s.size-64 {
		cart.WriteString("abcdefghijklmnopqrstuvwxyz012345")
	}
	cart.WriteString("; Path=/; Max-Age=86400")
	return &http.Response{StatusCode: 200, Status: "200 OK", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Set-Cookie": {cart.String()}}, Body: io.NopCloser(bytes.NewReader([]byte(`{"price": 12}`)))}, nil
}

type comparer struct {
	client   *http.Client
	newest   int
	asked    int
	articles []string // 24 MiB
}

func (c *comparer) price(shop int) (int64, error) {
	if c.asked++; c.newest > 0 && c.asked%c.newest == 0 {
		c.client.Jar = newJar()
	}
	resp, err := c.client.Get(fmt.Sprintf("http://shop%d.example/price?article=%.8s", shop, c.articles[shop%len(c.articles)])) // truth: asks
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	return io.Copy(io.Discard, resp.Body)
}

func newJar() http.CookieJar {
	jar, err := cookiejar.New(nil)
	if err != nil {
		log.Fatal(err)
	}
	return jar
}

func main() {
	f := frame.Parse()
	c := &comparer{client: &http.Client{Jar: newJar(), Transport: &shops{max(f.Unit, 512)}}}
	if f.Repaired {
		c.newest = 400
	}
	for i := range 24 << 7 {
		c.articles = append(c.articles, strings.Repeat(fmt.Sprintf("%08d", i), 1<<10))
	}
	f.Each(func(i int) {
		if _, err := c.price(i); err != nil {
			log.Fatal(err)
		}
	})
	f.Stay()
}
