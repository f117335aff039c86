// Pdfreport prints the statements of all accounts into one document for the
// archive, which is laid out in memory before a byte is written. Repaired, each
// account has a document of its own.
package main

import (
	"fmt"
	"log"
	"time"

	"github.com/go-pdf/fpdf"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

// pageBytes is what a page of bookings takes while it is laid out, half of it at the end.
const pageBytes = 14 << 10

type booking struct {
	text  string
	cents int
}

type printer struct {
	bookings []booking // of a year, the same for all who print here
	alone    bool      // a document an account
	written  int64
}

func main() {
	f := frame.Parse()
	p := &printer{alone: f.Repaired}
	for i := range 200_000 { // 16 MiB
		p.bookings = append(p.bookings, booking{fmt.Sprintf("Direct debit no. %06d of the water works, thank you", i), i * 7 % 90000})
	}
	for !f.Over() {
		if err := p.statements(int(f.Total/pageBytes), f.Over); err != nil {
			log.Fatal(err)
		}
		for next := time.Now().Add(time.Second); !f.Over() && time.Now().Before(next); {
			time.Sleep(20 * time.Millisecond)
		}
	}
}

// Write is the archive.
func (p *printer) Write(b []byte) (int, error) {
	p.written += int64(len(b))
	return len(b), nil
}

// statements prints n pages, of which an account has eight.
func (p *printer) statements(n int, over func() bool) error {
	document := newDocument()
	for page := range n {
		if over() {
			return nil
		}
		p.page(document, page) // truth: makes
		if p.alone && page%8 == 7 {
			if err := document.Output(p); err != nil {
				return err
			}
			document = newDocument()
		}
	}
	return document.Output(p) // truth: writes
}

func newDocument() *fpdf.Fpdf {
	document := fpdf.New("P", "mm", "A4", "")
	document.SetCompression(false)
	document.SetFont("Courier", "", 8)
	document.SetAutoPageBreak(false, 0)
	return document
}

func (p *printer) page(document *fpdf.Fpdf, number int) {
	document.AddPage() // truth: makes
	document.Text(10, 8, fmt.Sprintf("Account %d, page %d", number/8, number%8+1))
	for line := range 66 {
		b := p.bookings[(number*66+line)%len(p.bookings)]
		document.Text(10, 14+4*float64(line), fmt.Sprintf("%-60s %10.2f", b.text, float64(b.cents)/100)) // truth: makes
	}
}
