// Mailpool sends mails by a pool of workers of gammazero/workerpool, so that no more than four
// connections to the mail host are open. The host has begun to answer slowly; what is submitted
// waits in the pool's queue, which has no bound, and more comes than goes. Repaired, a mail that
// comes while 200 wait is refused, and whoever sent it tries later.
package main

import (
	"crypto/sha256"
	"fmt"
	"log"
	"sync/atomic"
	"time"

	"github.com/gammazero/workerpool"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type mail struct {
	to   string
	text []byte
}

type mailer struct {
	pool      *workerpool.WorkerPool
	refuses   bool
	customers []customer // 13 MiB
	refused   int
	sent      atomic.Int64
}

type customer struct {
	address string
	opened  [25]int64
}

func newMailer(refuses bool) *mailer {
	m := &mailer{pool: workerpool.New(4), refuses: refuses, customers: make([]customer, 60_000)}
	for i := range m.customers {
		m.customers[i] = customer{fmt.Sprintf("customer-%d@example.org", i), [25]int64{int64(i)}}
	}
	return m
}

// write makes a mail of size bytes.
func (m *mailer) write(i, size int) *mail {
	text := frame.Touch(make([]byte, size)) // truth: allocates
	to := m.customers[i%len(m.customers)].address
	copy(text, "Dear "+to+",\n")
	return &mail{to, text}
}

func (m *mailer) take(one *mail) {
	if m.refuses && m.pool.WaitingQueueSize() >= 200 {
		m.refused++
		return
	}
	m.pool.Submit(func() { m.send(one) }) // truth: submits
}

// send takes as long as the host does.
func (m *mailer) send(one *mail) {
	sum := sha256.Sum256(one.text)
	time.Sleep(4*time.Second + time.Duration(sum[0])*8*time.Millisecond)
	m.sent.Add(1)
}

func main() {
	f := frame.Parse()
	m := newMailer(f.Repaired)
	f.Each(func(i int) { m.take(m.write(i, f.Unit)) })
	f.Stay()
	log.Printf("%d sent, %d refused, %d wait", m.sent.Load(), m.refused, m.pool.WaitingQueueSize())
}
