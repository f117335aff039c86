// Clickjson reads clicks as JSON by json-iterator and adds them up by campaign. Each makes a
// good deal of small garbage; what it keeps is a table of campaigns, all there from the start.
// No fault, and it has no faulty form.
package main

import (
	"fmt"
	"log"
	"strings"

	jsoniter "github.com/json-iterator/go"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

var json = jsoniter.ConfigCompatibleWithStandardLibrary

type click struct {
	Campaign int               `json:"campaign"`
	User     string            `json:"user"`
	Tags     map[string]string `json:"tags"`
	Path     []string          `json:"path"`
}

type campaign struct {
	texts  []byte
	clicks int
	tags   map[string]int
}

type counter struct {
	campaigns []*campaign
	body      string
}

func main() {
	f := frame.Parse()
	c := load(f.Total, f.Unit)
	f.Total = 0
	f.Each(func(i int) {
		if err := c.take(i); err != nil {
			log.Fatal(err)
		}
	})
	f.Stay()
}

// load makes campaigns of total bytes in all, and what a bundle of clicks of size bytes ends with.
func load(total int64, size int) *counter {
	c := &counter{}
	for range total / (16 << 10) {
		c.campaigns = append(c.campaigns, &campaign{texts: frame.Touch(make([]byte, 16<<10)), tags: map[string]int{}}) // truth: live
	}
	var body strings.Builder
	for n := 0; body.Len() < size; n++ {
		fmt.Fprintf(&body, `,{"campaign":%d,"user":"user-%d","tags":{"zone":"north","kind":"k%d"},"path":["home","list","item-%d"]}`, n*31, n*7919, n%7, n)
	}
	c.body = body.String() + "]"
	return c
}

// take is one bundle of clicks.
func (c *counter) take(i int) error {
	bundle := fmt.Sprintf(`[{"campaign":%d,"user":"user-%d"}`, i, i) + c.body
	var clicks []click
	if err := json.UnmarshalFromString(bundle, &clicks); err != nil { // truth: garbage
		return fmt.Errorf("bundle %d: %w", i, err)
	}
	for _, k := range clicks {
		to := c.campaigns[k.Campaign%len(c.campaigns)]
		to.clicks++
		to.tags[k.Tags["kind"]]++
	}
	return nil
}
