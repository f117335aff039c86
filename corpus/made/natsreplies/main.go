// Natsreplies asks for quotes over NATS, with a server in the same process. For each
// question it subscribes to an inbox, and when the answer is there it goes on; the
// subscription stays, and nats.go has a goroutine that waits for its next message.
// Repaired, it ends with its first message (AutoUnsubscribe).
package main

import (
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type question struct {
	number int
	basket []byte
	cents  int
}

type desk struct {
	conn     *nats.Conn
	repaired bool
	asked    int
}

// prices are 15 MiB: of articles, by quantity.
type prices [][]int32

func main() {
	f := frame.Parse()
	conn, stop, err := connect()
	if err != nil {
		log.Fatal(err)
	}
	defer stop()
	p := make(prices, 15<<20/(4<<10))
	for n := range p {
		p[n] = make([]int32, 1<<10)
		for q := range p[n] {
			p[n][q] = int32(n*7 + 5000 - q)
		}
	}
	if _, err := conn.Subscribe("quotes", p.answer); err != nil {
		log.Fatal(err)
	}
	d := &desk{conn: conn, repaired: f.Repaired}
	f.Each(func(i int) {
		if _, err := d.ask(i, f.Unit); err != nil {
			log.Fatal(err)
		}
	})
	f.Stay()
}

// connect starts a server that listens nowhere, and connects to it.
func connect() (*nats.Conn, func(), error) {
	s, err := server.NewServer(&server.Options{DontListen: true, NoLog: true, NoSigs: true})
	if err != nil {
		return nil, nil, err
	}
	go s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		return nil, nil, errors.New("the server does not start")
	}
	conn, err := nats.Connect("", nats.InProcessServer(s))
	if err != nil {
		return nil, nil, err
	}
	return conn, func() { conn.Close(); s.Shutdown() }, nil
}

func (p prices) answer(m *nats.Msg) {
	var number, quantity int
	if _, err := fmt.Sscan(string(m.Data), &number, &quantity); err != nil {
		log.Fatal(err)
	}
	cents := p[number%len(p)][quantity%(1<<10)]
	if err := m.Respond(fmt.Append(nil, cents)); err != nil {
		log.Print(err)
	}
}

// ask puts a question, and waits for the quote.
func (d *desk) ask(i, size int) (*question, error) {
	q := &question{number: i, basket: frame.Touch(make([]byte, size))} // truth: allocates
	inbox, answered := nats.NewInbox(), make(chan error, 1)
	sub, err := d.conn.Subscribe(inbox, func(m *nats.Msg) { // truth: starts
		_, err := fmt.Sscan(string(m.Data), &q.cents)
		q.basket[0] = byte(q.cents)
		answered <- err
	})
	if err != nil {
		return nil, err
	}
	if d.repaired {
		if err := sub.AutoUnsubscribe(1); err != nil {
			return nil, err
		}
	}
	if err := d.conn.PublishRequest("quotes", inbox, fmt.Append(nil, q.number, " ", len(q.basket))); err != nil {
		return nil, err
	}
	select {
	case err := <-answered:
		d.asked++
		return q, err
	case <-time.After(20 * time.Second):
		return nil, fmt.Errorf("question %d has no answer", i)
	}
}
