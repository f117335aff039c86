// Xlsxreport makes a table of all bookings for the controllers every few seconds, as a file for
// Excel. It sets the rows one by one in a workbook of excelize, which has each cell as a value of
// its own until the file is written. Repaired, the rows go through the module's stream writer.
package main

import (
	"fmt"
	"io"
	"log"
	"time"

	"github.com/xuri/excelize/v2"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

const (
	columns   = 8
	cellBytes = 330 // of a cell in a workbook
)

// book has 12 MiB of bookings.
type book struct{ bookings []booking }

type booking struct {
	account int
	cents   int64
	purpose string
	days    [9]int64
}

func newBook() *book {
	b := &book{make([]booking, 120_000)}
	for i := range b.bookings {
		b.bookings[i] = booking{i % 900, int64(i%90_000) - 45_000, [...]string{"rent", "wages", "goods", "tax"}[i%4], [9]int64{int64(i)}}
	}
	return b
}

func (b *book) row(n int) []any {
	k := &b.bookings[n%len(b.bookings)]
	return []any{n, k.account, k.cents, k.purpose, k.days[0], k.days[0] + 14, k.cents * 19 / 100, k.account % 7}
}

// table writes rows lines.
func (b *book) table(rows int, to io.Writer) error {
	file := excelize.NewFile()
	defer file.Close()
	for n := range rows {
		line := b.row(n)
		if err := file.SetSheetRow("Sheet1", fmt.Sprintf("A%d", n+1), &line); err != nil { // truth: sets
			return err
		}
	}
	return file.Write(to) // truth: writes
}

// streamed is table by the stream writer.
func (b *book) streamed(rows int, to io.Writer) error {
	file := excelize.NewFile()
	defer file.Close()
	sheet, err := file.NewStreamWriter("Sheet1")
	if err != nil {
		return err
	}
	for n := range rows {
		if err := sheet.SetRow(fmt.Sprintf("A%d", n+1), b.row(n)); err != nil {
			return err
		}
	}
	if err := sheet.Flush(); err != nil {
		return err
	}
	return file.Write(to)
}

// pause waits, and is false where the program is to end.
func pause(f *frame.Frame, long time.Duration) bool {
	for end := time.Now().Add(long); time.Now().Before(end) && !f.Over(); {
		time.Sleep(20 * time.Millisecond)
	}
	return !f.Over()
}

func main() {
	f := frame.Parse()
	b := newBook()
	tables := 0
	for long := 3 * time.Second; pause(f, long); long = 2 * time.Second {
		make := b.table
		if f.Repaired {
			make = b.streamed
		}
		if err := make(int(f.Total/columns/cellBytes), io.Discard); err != nil {
			log.Fatal(err)
		}
		tables++
	}
	f.Stay()
	log.Printf("%d tables", tables)
}
