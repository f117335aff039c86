// Package resolver answers questions from a cache and asks upstream for the rest.
package resolver

import (
	"strings"
	"sync"
	"time"

	"github.com/miekg/dns"
)

type question struct {
	name string
	kind uint16
}

type entry struct {
	answer *dns.Msg
	until  time.Time
}

// Cache is a dns.Handler. What is over is asked for again, and replaced.
type Cache struct {
	Upstream func(q dns.Question) (wire []byte, err error)
	Lasts    time.Duration
	Fold     bool // names that differ in case are one

	mu      sync.Mutex
	entries map[question]*entry
}

// ServeDNS answers one message.
func (c *Cache) ServeDNS(w dns.ResponseWriter, m *dns.Msg) {
	reply := new(dns.Msg).SetReply(m)
	if len(m.Question) != 1 {
		reply.Rcode = dns.RcodeFormatError
	} else if answer, err := c.lookup(m.Question[0]); err != nil {
		reply.Rcode = dns.RcodeServerFailure
	} else {
		reply.Answer = answer.Answer
	}
	// Who asked is gone; there is nobody to tell.
	_ = w.WriteMsg(reply)
}

func (c *Cache) lookup(q dns.Question) (*dns.Msg, error) {
	key := question{q.Name, q.Qtype} // truth: keys
	if c.Fold {
		key.name = strings.ToLower(q.Name)
	}
	c.mu.Lock()
	e := c.entries[key]
	c.mu.Unlock()
	if e != nil && time.Now().Before(e.until) {
		return e.answer, nil
	}
	wire, err := c.Upstream(q)
	if err != nil {
		return nil, err
	}
	answer := new(dns.Msg)
	if err := answer.Unpack(wire); err != nil { // truth: allocates
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries == nil {
		c.entries = map[question]*entry{}
	}
	c.entries[key] = &entry{answer, time.Now().Add(c.Lasts)} // truth: keeps
	return answer, nil
}
