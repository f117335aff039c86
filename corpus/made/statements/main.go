// Statements makes the letters of a bank to its customers, every few seconds for all customers
// of a branch: the bookings are grouped by account, a text is made for each, and when all are
// handed over everything goes. The room is large enough. No fault, and it has no faulty form.
package main

import (
	"fmt"
	"io"
	"log"
	"time"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type booking struct {
	account int
	cents   int64
	purpose string
}

type letter struct {
	account int
	text    []byte
}

// branch has 11 MiB of customers.
type branch struct {
	names   []string
	history [][]int64
	letters int
}

func newBranch() *branch {
	b := &branch{}
	for i := range 5000 {
		b.names = append(b.names, fmt.Sprintf("customer of number %06d", i))
		b.history = append(b.history, make([]int64, 256))
		for n := range b.history[i] {
			b.history[i][n] = int64(i * n)
		}
	}
	return b
}

// group gives the bookings of a month, of total bytes, by account.
func (b *branch) group(total int64) map[int][]booking {
	byAccount := map[int][]booking{}
	for i := range int(total / 200) {
		k := booking{i % len(b.names), int64(i%9000) - 4500, fmt.Sprintf("card payment %09d, thank you", i)}
		byAccount[k.account] = append(byAccount[k.account], k)
	}
	return byAccount
}

func (b *branch) write(account int, all []booking) letter {
	l := letter{account: account}
	l.text = fmt.Appendf(l.text, "Dear %s,\n", b.names[account])
	sum := b.history[account][0]
	for _, k := range all {
		sum += k.cents
		l.text = fmt.Appendf(l.text, "%10d  %s\n", k.cents, k.purpose)
	}
	return letter{account, fmt.Appendf(l.text, "%10d  in all\n", sum)}
}

func (b *branch) month(total int64, to io.Writer) error {
	var letters []letter
	for account, all := range b.group(total) {
		letters = append(letters, b.write(account, all))
	}
	for _, l := range letters {
		if _, err := to.Write(l.text); err != nil {
			return err
		}
	}
	b.letters += len(letters)
	return nil
}

func main() {
	f := frame.Parse()
	b := newBranch()
	for !f.Over() {
		if err := b.month(f.Total, io.Discard); err != nil {
			log.Fatal(err)
		}
		for pause := time.Now().Add(2 * time.Second); time.Now().Before(pause) && !f.Over(); {
			time.Sleep(20 * time.Millisecond)
		}
	}
	f.Stay()
	log.Printf("%d letters", b.letters)
}
