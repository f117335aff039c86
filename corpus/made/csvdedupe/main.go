// Csvdedupe imports bank statements as CSV and remembers the number of each booking,
// to skip those that come twice. A number is a part of the string that its whole row
// is. Repaired, the numbers are cloned, and those that are old are forgotten.
package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"log"
	"strconv"
	"strings"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

const rowBytes = 2 << 10

type account struct {
	number int
	cents  int64
	days   [40]int32
}

type importer struct {
	accounts []account // 16 MiB
	seen     map[string]bool
	recent   []string // numbers, the oldest first
	clone    bool
	twice    int
}

func main() {
	f := frame.Parse()
	i := &importer{accounts: make([]account, 90_000), seen: map[string]bool{}, clone: f.Repaired}
	for n := range i.accounts {
		i.accounts[n].number = n
	}
	b := &bank{reason: strings.Repeat("invoice, rent and more ", (rowBytes-60)/23)}
	f.Each(func(n int) {
		if err := i.load(b.statement(n, max(1, f.Unit/rowBytes))); err != nil {
			log.Fatal(err)
		}
	})
	f.Stay()
}

// bank sends statements of n bookings each, of which the first was in the last one.
type bank struct {
	reason string
	page   bytes.Buffer
}

func (b *bank) statement(number, n int) io.Reader {
	b.page.Reset()
	for k := range n + 1 {
		fmt.Fprintf(&b.page, "B%012d;%d;%d;%s\n", number*n+k, (number*n+k)*37%90_000, k*125, b.reason)
	}
	return &b.page
}

func (i *importer) load(from io.Reader) error {
	rows := csv.NewReader(from)
	rows.Comma, rows.FieldsPerRecord = ';', 4
	for {
		row, err := rows.Read() // truth: allocates
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if !i.first(row[0]) {
			i.twice++
			continue
		}
		if err := i.book(row); err != nil {
			return err
		}
	}
}

// first says that a booking was not there before.
func (i *importer) first(number string) bool {
	if i.seen[number] {
		return false
	}
	if i.clone {
		number = strings.Clone(number)
		if i.recent = append(i.recent, number); len(i.recent) > 400 {
			delete(i.seen, i.recent[0])
			i.recent = i.recent[1:]
		}
	}
	i.seen[number] = true // truth: keeps
	return true
}

func (i *importer) book(row []string) error {
	n, err := strconv.Atoi(row[1])
	if err != nil || n >= len(i.accounts) {
		return fmt.Errorf("booking %s: no account %q", row[0], row[1])
	}
	cents, err := strconv.ParseInt(row[2], 10, 64)
	if err != nil {
		return fmt.Errorf("booking %s: %w", row[0], err)
	}
	a := &i.accounts[n]
	a.cents += cents
	a.days[cents%int64(len(a.days))]++
	return nil
}
