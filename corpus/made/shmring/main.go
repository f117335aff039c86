// Shmring passes pictures to other processes through rings in shared memory. A consumer
// that asks for more room gets a new ring, with what was in the old one, which stays mapped.
// Repaired, it is unmapped. The files have no names, so that they end with the program.
package main

import (
	"log"
	"os"

	"golang.org/x/sys/unix"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type ring struct {
	data []byte
	head int
}

func newRing(size int) (*ring, error) {
	file, err := os.CreateTemp("/dev/shm", "ring-")
	if err != nil {
		return nil, err
	}
	defer file.Close()
	os.Remove(file.Name())
	if err := file.Truncate(int64(size)); err != nil {
		return nil, err
	}
	data, err := unix.Mmap(int(file.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED) // truth: maps
	return &ring{data: data}, err
}

type consumer struct{ ring *ring }

type broker struct {
	consumers map[string]*consumer
	unmap     bool
	palette   [][]byte // 16 MiB
}

// resize gives the consumer a ring with size bytes.
func (b *broker) resize(name string, size int) error {
	c := b.consumers[name]
	old := c.ring
	fresh, err := newRing(size)
	if err != nil {
		return err
	}
	frame.Touch(fresh.data) // truth: writes
	if old != nil {
		fresh.head = copy(fresh.data, old.data[:old.head]) // truth: writes
	}
	fresh.head = min(fresh.head+4096, size)
	c.ring = fresh
	if b.unmap && old != nil {
		return unix.Munmap(old.data)
	}
	return nil
}

func main() {
	f := frame.Parse()
	b := &broker{consumers: map[string]*consumer{"preview": {}, "print": {}}, unmap: f.Repaired}
	for range 16 << 4 {
		b.palette = append(b.palette, frame.Touch(make([]byte, 64<<10)))
	}
	names := []string{"preview", "print"}
	f.Each(func(i int) {
		if err := b.resize(names[i%2], f.Unit); err != nil {
			log.Fatal(err)
		}
	})
	f.Stay()
}
