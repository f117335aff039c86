// Gojarules asks a customer's rule, in JavaScript by dop251/goja, about each payment. The
// rule notes what it has seen in an array of its own, to find what is paid twice, and
// never takes anything out. Repaired, the rule keeps the newest 400.
package main

import (
	"errors"
	"fmt"
	"log"

	"github.com/dop251/goja"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

const rule = `
var seen = [];
function check(payment, known) {
	var twice = false;
	for (var i = Math.max(0, seen.length - 20); i < seen.length; i++) {
		twice = twice || seen[i].Reference === payment.Reference;
	}
	seen.push(payment);
	if (keep > 0 && seen.length > keep) {
		seen = seen.slice(seen.length - keep / 2);
	}
	return known && !twice;
}
`

type payment struct {
	Reference string
	Cents     int
	Message   []byte // as the bank sent it
}

type checker struct {
	runtime  *goja.Runtime
	check    goja.Callable
	accounts map[int][]byte // 15 MiB
	passed   int
}

func main() {
	f := frame.Parse()
	keep := 0
	if f.Repaired {
		keep = 400
	}
	c := &checker{accounts: map[int][]byte{}}
	for n := range 15 << 20 / (4 << 10) {
		c.accounts[n] = frame.Touch(make([]byte, 4<<10))
	}
	if err := c.load(keep); err != nil {
		log.Fatal(err)
	}
	f.Each(func(i int) {
		if err := c.take(newPayment(i, f.Unit)); err != nil {
			log.Fatal(err)
		}
	})
	f.Stay()
}

func (c *checker) load(keep int) error {
	c.runtime = goja.New()
	if err := c.runtime.Set("keep", keep); err != nil {
		return err
	}
	if _, err := c.runtime.RunString(rule); err != nil {
		return err
	}
	check, ok := goja.AssertFunction(c.runtime.Get("check"))
	if !ok {
		return errors.New("the rule has no function check")
	}
	c.check = check
	return nil
}

func newPayment(i, size int) *payment {
	p := &payment{Reference: fmt.Sprintf("RF%08d", i), Cents: i * 37 % 100_000}
	p.Message = frame.Touch(make([]byte, size)) // truth: allocates
	return p
}

func (c *checker) take(p *payment) error {
	known := len(c.accounts[p.Cents%len(c.accounts)]) > 0
	answer, err := c.check(goja.Undefined(), c.runtime.ToValue(p), c.runtime.ToValue(known)) // truth: keeps
	if err != nil {
		return fmt.Errorf("payment %s: %w", p.Reference, err)
	}
	if answer.ToBoolean() {
		c.passed++
	}
	return nil
}
