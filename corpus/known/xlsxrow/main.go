// Xlsxrow reads price lists that suppliers send as workbooks. Some say of a row that it is the
// millionth and more. It keeps the prices, about 30 MiB.
package main

import (
	"archive/zip"
	"bytes"
	"flag"
	"fmt"
	"io"
	"log"
	"strings"
	"sync"
	"time"

	"github.com/xuri/excelize/v2"
)

type price struct {
	article, supplier, text string
	cents                   int64
}

type shop struct {
	mu     sync.Mutex
	prices [120_000]price // all are there from the start
	next   int
}

func newShop() *shop {
	s := &shop{}
	for i := range s.prices {
		s.prices[i] = price{fmt.Sprintf("article %d", i), "nobody", strings.Repeat("t", 150), int64(i)}
	}
	return s
}

func (s *shop) read(file []byte) error {
	book, err := excelize.OpenReader(bytes.NewReader(file))
	if err != nil {
		return err
	}
	defer book.Close()
	for i := range 3 {
		article, err := book.GetCellValue("Sheet1", fmt.Sprint("A", i+1))
		if err != nil {
			return err
		}
		s.mu.Lock()
		s.next = (s.next + 1) % len(s.prices)
		s.prices[s.next].article = article
		s.mu.Unlock()
	}
	return nil
}

func list() []byte {
	book := excelize.NewFile()
	for i := range 40 {
		if err := book.SetCellValue("Sheet1", fmt.Sprint("A", i+1), fmt.Sprint("article ", i)); err != nil {
			log.Fatal(err)
		}
	}
	out, err := book.WriteToBuffer()
	if err != nil {
		log.Fatal(err)
	}
	return out.Bytes()
}

// last says that the last row of the list is number n.
func last(file []byte, n int) []byte {
	in, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		log.Fatal(err)
	}
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, f := range in.File {
		r, err := f.Open()
		if err != nil {
			log.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			log.Fatal(err)
		}
		if f.Name == "xl/worksheets/sheet1.xml" {
			text = []byte(strings.Replace(string(text), `<row r="40"`, fmt.Sprintf(`<row r="%d"`, n), 1))
			text = []byte(strings.Replace(string(text), `r="A40"`, fmt.Sprintf(`r="A%d"`, n), 1))
		}
		w, err := z.Create(f.Name)
		if err != nil {
			log.Fatal(err)
		}
		w.Write(text)
	}
	z.Close()
	return out.Bytes()
}

func main() {
	howLong := flag.Duration("for", 25*time.Second, "how long the load lasts")
	flag.Parse()
	s, good := newShop(), list()
	bad, end := last(good, 1_048_577), time.Now().Add(*howLong)
	var suppliers sync.WaitGroup
	supply := func(file []byte, every time.Duration) {
		refused := 0
		for ; time.Now().Before(end); time.Sleep(every) {
			if err := s.read(file); err != nil {
				refused++
			}
		}
		if refused > 0 {
			log.Print(refused, " were refused")
		}
	}
	suppliers.Go(func() { supply(good, 20*time.Millisecond) })
	for range 2 {
		suppliers.Go(func() { supply(bad, 700*time.Millisecond) })
	}
	suppliers.Wait()
}
