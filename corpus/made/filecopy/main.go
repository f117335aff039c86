// Filecopy copies a file again and again, for a test of a disk, through a buffer of 256
// KiB. What it needs is that buffer; what is resident besides is the kernel's cache of files,
// which goes when there is need. No fault, and it has no faulty form.
package main

import (
	"bufio"
	"hash/crc32"
	"io"
	"log"
	"os"
	"time"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type copier struct {
	buffer []byte
	pages  [][]byte // 12 MiB
}

// temporary has no name any more, so that it ends with the program.
func temporary() *os.File {
	file, err := os.CreateTemp(".", "disk-")
	if err != nil {
		log.Fatal(err)
	}
	os.Remove(file.Name())
	return file
}

func (c *copier) fill(file *os.File, total int64) error {
	w := bufio.NewWriterSize(file, len(c.buffer))
	for n := int64(0); n < total; n += int64(len(c.pages[0])) {
		if _, err := w.Write(c.pages[n/int64(len(c.pages[0]))%int64(len(c.pages))]); err != nil {
			return err
		}
	}
	return w.Flush()
}

func (c *copier) copy(to, from *os.File) (sum uint32, err error) {
	for _, file := range []*os.File{to, from} {
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			return 0, err
		}
	}
	for {
		n, err := from.Read(c.buffer)
		if err == io.EOF {
			return sum, nil
		}
		if err != nil {
			return 0, err
		}
		sum = crc32.Update(sum, crc32.IEEETable, c.buffer[:n])
		if _, err := to.Write(c.buffer[:n]); err != nil {
			return 0, err
		}
	}
}

func main() {
	f := frame.Parse()
	c := &copier{buffer: make([]byte, 256<<10)}
	for range 12 << 6 {
		c.pages = append(c.pages, frame.Touch(make([]byte, 16<<10)))
	}
	from, to := temporary(), temporary()
	if err := c.fill(from, f.Total/2); err != nil {
		log.Fatal(err)
	}
	for !f.Over() {
		if _, err := c.copy(to, from); err != nil {
			log.Fatal(err)
		}
		for pause := time.Now().Add(time.Second); time.Now().Before(pause) && !f.Over(); {
			time.Sleep(20 * time.Millisecond)
		}
	}
	f.Stay()
}
