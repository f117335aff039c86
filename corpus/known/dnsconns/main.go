// Dnsconns is a name server for a zone of 60,000 names, about 25 MiB. Its clients ask over TCP and
// make a connection for each question.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/miekg/dns"
)

type zone struct{ names map[string]*dns.TXT }

func newZone() *zone {
	z := &zone{map[string]*dns.TXT{}}
	for i := range 60_000 {
		name := fmt.Sprintf("host-%d.example.", i)
		z.names[name] = &dns.TXT{
			Hdr: dns.RR_Header{Name: name, Rrtype: dns.TypeTXT, Class: dns.ClassINET, Ttl: 60},
			Txt: []string{strings.Repeat("t", 200)},
		}
	}
	return z
}

func (z *zone) ServeDNS(w dns.ResponseWriter, r *dns.Msg) {
	m := new(dns.Msg)
	m.SetReply(r)
	if t := z.names[r.Question[0].Name]; t != nil {
		m.Answer = append(m.Answer, t)
	}
	if err := w.WriteMsg(m); err != nil {
		log.Print(err)
	}
}

func ask(addr string, n int) error {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	// Without the state of a closed connection that waits, there are ports enough.
	defer conn.(*net.TCPConn).SetLinger(0)
	c := &dns.Conn{Conn: conn}
	defer c.Close()
	m := new(dns.Msg)
	m.SetQuestion(fmt.Sprintf("host-%d.example.", n%60_000), dns.TypeTXT)
	if err := c.WriteMsg(m); err != nil {
		return err
	}
	if _, err := c.ReadMsg(); err != nil {
		return err
	}
	return conn.(*net.TCPConn).SetLinger(0)
}

func main() {
	last := flag.Duration("for", 25*time.Second, "how long the load lasts")
	flag.Parse()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	server := &dns.Server{Listener: l, Handler: newZone(), ReadTimeout: 2 * time.Second}
	go func() {
		if err := server.ActivateAndServe(); err != nil {
			log.Print(err)
		}
	}()
	end := time.Now().Add(*last)
	var clients sync.WaitGroup
	for range 4 {
		clients.Go(func() {
			for n := 0; time.Now().Before(end); n++ {
				if err := ask(l.Addr().String(), n); err != nil {
					log.Print(err)
					return
				}
			}
		})
	}
	clients.Wait()
}
