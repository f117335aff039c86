// Dnsanswers is a resolver with a cache of miekg/dns messages. Its clients mix the
// case of the letters at random, as a protection against forgers, and the cache
// takes each spelling for another name. Repaired, it folds names.
package main

import (
	"fmt"
	"log"
	"net"
	"strings"
	"time"

	"github.com/miekg/dns"

	"github.com/highwater-go/highwater/corpus/made/dnsanswers/resolver"
	"github.com/highwater-go/highwater/corpus/made/frame"
)

const hosts = 200

// blocked are 24 MiB of names that are not answered.
type blocked map[string]struct{}

func main() {
	f := frame.Parse()
	list := blocked{}
	for i := range 160_000 {
		list[fmt.Sprintf("ads-%d.%s.example.", i, strings.Repeat("tracker", 10))] = struct{}{}
	}
	up := newUpstream(f.Unit)
	cache := &resolver.Cache{Upstream: up.ask, Lasts: time.Minute, Fold: f.Repaired}
	mux := dns.NewServeMux()
	mux.Handle("example.org.", cache)
	out := &client{}
	f.Each(func(i int) {
		name := fmt.Sprintf("%s-%d.example.org.", mixed("portal-of-the-old-town", i/hosts), i%hosts)
		if _, no := list[name]; no {
			return
		}
		mux.ServeDNS(out, new(dns.Msg).SetQuestion(name, dns.TypeTXT))
	})
	if out.records == 0 {
		log.Print("nothing was answered")
	}
	f.Stay()
}

// mixed makes the letters of name large by the bits of n.
func mixed(name string, n int) string {
	b := []byte(name)
	for i := range b {
		if b[i] != '-' {
			if n&1 == 1 {
				b[i] -= 'a' - 'A'
			}
			n >>= 1
		}
	}
	return string(b)
}

// upstream answers with keys, as long as a domain has some.
type upstream struct{ texts []string }

func newUpstream(size int) *upstream {
	u := &upstream{}
	for n := 0; n < size; n += 250 {
		u.texts = append(u.texts, strings.Repeat("v=key1; p=ABCDEFGHIJKLMNO", 10))
	}
	return u
}

func (u *upstream) ask(q dns.Question) ([]byte, error) {
	m := new(dns.Msg).SetQuestion(q.Name, q.Qtype)
	m.Response, m.Compress = true, true
	for at := 0; at < len(u.texts) && at < 62<<10/250; at += 8 {
		head := dns.RR_Header{Name: q.Name, Rrtype: dns.TypeTXT, Class: dns.ClassINET, Ttl: 60}
		m.Answer = append(m.Answer, &dns.TXT{Hdr: head, Txt: u.texts[at:min(at+8, len(u.texts))]})
	}
	return m.Pack()
}

// client counts what it is answered.
type client struct {
	dns.ResponseWriter
	records int
}

func (c *client) WriteMsg(m *dns.Msg) error {
	c.records += len(m.Answer)
	return nil
}

func (c *client) RemoteAddr() net.Addr { return &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 5353} }
