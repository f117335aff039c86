// Relabel renames the labels of samples that pass through, by rules with patterns. It
// compiles each pattern for each sample, and makes a map of the labels, which are put
// together again. Repaired, patterns are compiled once, and a buffer is used again.
package main

import (
	"fmt"
	"log"
	"regexp"
	"slices"
	"strings"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type rule struct {
	label   string
	pattern string
	to      string
	ready   *regexp.Regexp
}

var rules = []*rule{
	{label: "instance", pattern: `^([a-z0-9.-]+):\d+$`, to: "host"},
	{label: "path", pattern: `^/api/v\d+/([a-z]+)(/.*)?$`, to: "resource"},
	{label: "pod", pattern: `^(.+)-[0-9a-f]{8,10}-[0-9a-z]{5}$`, to: "deployment"},
}

// owner is who is called at night for an instance.
type owner struct {
	team  string
	above *owner
}

type relay struct {
	targets map[string]*owner // 10 MiB
	out     []byte
	written int
}

func main() {
	f := frame.Parse()
	r := &relay{targets: map[string]*owner{}}
	for i := range 30_000 {
		var o *owner
		for floor := range 4 {
			o = &owner{fmt.Sprintf("the team of floor %d", i*floor%40), o}
		}
		r.targets[fmt.Sprintf("shop-%d.example.org", i)] = o
	}
	for _, rule := range rules {
		rule.ready = regexp.MustCompile(rule.pattern)
	}
	samples := make([]string, 500)
	for i := range samples {
		samples[i] = fmt.Sprintf("instance=shop-%d.example.org:9090,path=/api/v1/orders/%d,pod=checkout-%08x-x%04d,value=%d", i, i*7, i*2654435, i, i*3)
	}
	pass := r.slow
	if f.Repaired {
		pass = r.fast
	}
	f.Each(func(i int) {
		if err := pass(samples[i%len(samples)]); err != nil {
			log.Fatal(err)
		}
	})
	if r.written == 0 {
		log.Print("nothing was written")
	}
	f.Stay()
}

// slow renames the labels of one sample.
func (r *relay) slow(sample string) error {
	labels := map[string]string{}                     // truth: garbage
	for _, pair := range strings.Split(sample, ",") { // truth: garbage
		name, value, _ := strings.Cut(pair, "=")
		labels[name] = value // truth: garbage
	}
	for _, rule := range rules {
		pattern, err := regexp.Compile(rule.pattern) // truth: garbage
		if err != nil {
			return err
		}
		if m := pattern.FindStringSubmatch(labels[rule.label]); m != nil { // truth: garbage
			labels[rule.to] = m[1] // truth: garbage
		}
	}
	if o := r.targets[labels["host"]]; o != nil {
		labels["owner"] = o.team
	}
	var names, pairs []string
	for name := range labels {
		names = append(names, name) // truth: garbage
	}
	slices.Sort(names)
	for _, name := range names {
		pairs = append(pairs, fmt.Sprintf("%s=%q", name, labels[name])) // truth: garbage
	}
	r.written += len(strings.Join(pairs, ",")) // truth: garbage
	return nil
}

// fast does the same without a byte of garbage, but keeps the order.
func (r *relay) fast(sample string) error {
	r.out = r.out[:0]
	host := ""
	for rest := sample; rest != ""; {
		var pair string
		pair, rest, _ = strings.Cut(rest, ",")
		name, value, _ := strings.Cut(pair, "=")
		r.out = append(append(append(r.out, name...), '='), value...)
		for _, rule := range rules {
			if rule.label != name || !rule.ready.MatchString(value) {
				continue
			}
			if rule.to == "host" {
				host, _, _ = strings.Cut(value, ":")
			}
			r.out = append(append(append(append(r.out, ','), rule.to...), '='), value...)
		}
		r.out = append(r.out, ',')
	}
	if o := r.targets[host]; o != nil {
		r.out = append(append(r.out, "owner="...), o.team...)
	}
	r.written += len(r.out)
	return nil
}
