// Crawltitles reads pages and keeps the node of each one's title, for a list that is
// shown. A node knows its parent, and so each title keeps its page. Repaired, it keeps
// the words, and those of the newest pages alone.
package main

import (
	"errors"
	"fmt"
	"io"
	"log"
	"strings"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

// rowBytes is what a row of a page takes when it is parsed.
const rowBytes = 660

type title struct {
	address string
	node    *html.Node
	words   string
}

type crawler struct {
	titles   []title
	visited  map[uint32]bool // 10 MiB of addresses of last month
	repaired bool
	links    int
}

func main() {
	f := frame.Parse()
	c := &crawler{visited: map[uint32]bool{}, repaired: f.Repaired}
	for i := range uint32(600_000) {
		c.visited[i*2654435761] = true
	}
	var rows strings.Builder
	for n := 0; n < f.Unit; n += rowBytes {
		fmt.Fprintf(&rows, "<li class=\"row\"><a href=\"/news/%d\">The council met again, for the time no. %d</a></li>\n", n, n)
	}
	f.Each(func(i int) {
		page := fmt.Sprintf("<html><head><title>News of day %d</title></head><body><ul>%s</ul></body></html>", i, rows.String())
		if err := c.read(fmt.Sprintf("https://town.example.org/%d", i), strings.NewReader(page)); err != nil {
			log.Fatal(err)
		}
		if i%100 == 0 {
			c.list()
		}
	})
	f.Stay()
}

func (c *crawler) read(address string, from io.Reader) error {
	page, err := goquery.NewDocumentFromReader(from) // truth: allocates
	if err != nil {
		return fmt.Errorf("read %s: %w", address, err)
	}
	found := page.Find("head > title")
	if found.Length() == 0 {
		return errors.New("no title in " + address)
	}
	c.links += page.Find("a[href]").Length()
	t := title{address: address, node: found.Nodes[0]} // truth: keeps
	if c.repaired {
		t.node, t.words = nil, strings.Clone(found.Text())
		if len(c.titles) == 400 {
			c.titles = append(c.titles[:0], c.titles[200:]...)
		}
	}
	c.titles = append(c.titles, t) // truth: keeps
	return nil
}

// list shows the last ten titles.
func (c *crawler) list() string {
	var s strings.Builder
	for _, t := range c.titles[max(0, len(c.titles)-10):] {
		words := t.words
		if t.node != nil && t.node.FirstChild != nil {
			words = t.node.FirstChild.Data
		}
		fmt.Fprintf(&s, "%s\t%s\n", t.address, words)
	}
	return s.String()
}
