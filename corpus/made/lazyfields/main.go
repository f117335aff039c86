// Lazyfields books payments that come over a queue. Its logger of zap is to know the payment,
// which is added lazily, since it is written for debugging alone and that is off. What comes of
// it is assigned to the logger of the loop, and not to one of the payment: each logger knows the
// one before, and with it its payment. Repaired, each payment has a logger from the first one.
package main

import (
	"fmt"
	"io"
	"log"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type payment struct {
	number  int
	account int
	cents   int64
	text    []byte // as the bank sent it
}

func receive(i, size int) *payment {
	p := &payment{i, i * 31 % accounts, int64(i % 9000), frame.Touch(make([]byte, size))} // truth: allocates
	copy(p.text, fmt.Sprintf("payment %d", i))
	return p
}

const accounts = 70_000

// account is one of 14 MiB of them.
type account struct {
	owner  string
	months [24]int64
}

type ledger struct {
	log      *zap.Logger
	accounts []*account
	each     bool // payment has a logger of its own
	booked   int
}

func newLedger(logger *zap.Logger, each bool) *ledger {
	l := &ledger{log: logger, each: each}
	for i := range accounts {
		l.accounts = append(l.accounts, &account{fmt.Sprintf("owner %d", i), [24]int64{int64(i)}})
	}
	return l
}

func (l *ledger) book(p *payment, logger *zap.Logger) {
	a := l.accounts[p.account]
	a.months[p.number%24] += p.cents
	logger.Debug("booked", zap.String("owner", a.owner))
	l.booked++
}

func main() {
	f := frame.Parse()
	core := zapcore.NewCore(zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()), zapcore.AddSync(io.Discard), zap.InfoLevel)
	l := newLedger(zap.New(core), f.Repaired)
	logger := l.log
	f.Each(func(i int) {
		p := receive(i, f.Unit)
		if l.each {
			l.book(p, l.log.WithLazy(zap.Any("payment", p)))
			return
		}
		logger = logger.WithLazy(zap.Any("payment", p)) // truth: keeps
		l.book(p, logger)
		if i%1000 == 0 {
			l.log.Info("at work", zap.Int("booked", l.booked))
		}
	})
	f.Stay()
	log.Printf("%d booked", l.booked)
}
