// Mmapreads looks up postal codes in a file that it has mapped for reading. The pages
// that it read are resident, and are the file's: the kernel drops them where it needs
// room. No fault, and it has no faulty form.
package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"log"
	"math/rand"
	"os"
	"sort"
	"time"

	"github.com/edsrzf/mmap-go"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

const recordBytes = 64

type codes struct {
	table mmap.MMap
	count int
}

func main() {
	f := frame.Parse()
	file, err := write(int(f.Total / recordBytes))
	if err != nil {
		log.Fatal(err)
	}
	table, err := mmap.Map(file, mmap.RDONLY, 0) // truth: maps
	if err != nil {
		log.Fatal(err)
	}
	c := &codes{table, len(table) / recordBytes}
	log.Printf("%d codes, sum %08x", c.count, crc32.ChecksumIEEE(c.table))
	// Most who ask live in the towns, a few in the country.
	towns, found := c.count/8, 0
	random := rand.New(rand.NewSource(1))
	for !f.Over() {
		for range 50 {
			code := random.Intn(max(1, towns))
			if random.Intn(100) == 0 {
				code = random.Intn(c.count)
			}
			found += len(c.find(uint64(code)))
		}
		time.Sleep(2 * time.Millisecond)
	}
	if err := table.Unmap(); err != nil {
		log.Fatal(err)
	}
}

// write makes a file of n records, which has no name any more.
func write(n int) (*os.File, error) {
	file, err := os.CreateTemp(".", "codes-")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(file.Name()); err != nil {
		return nil, err
	}
	var part bytes.Buffer
	for i := range n {
		part.Write(binary.BigEndian.AppendUint64(nil, uint64(i)))
		fmt.Fprintf(&part, "%-56s", fmt.Sprintf("The town of Oak Hill no. %d", i))
		if part.Len() >= 1<<20 || i == n-1 {
			if _, err := part.WriteTo(file); err != nil {
				return nil, err
			}
		}
	}
	return file, nil
}

func (c *codes) find(code uint64) []byte {
	key := func(i int) uint64 { return binary.BigEndian.Uint64(c.table[i*recordBytes:]) }
	i := sort.Search(c.count, func(i int) bool { return key(i) >= code })
	if i == c.count || key(i) != code {
		return nil
	}
	return bytes.TrimSpace(c.table[i*recordBytes+8 : (i+1)*recordBytes])
}
