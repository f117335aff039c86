// Nativemmap maps memory for every segment and does not unmap it. Repaired, it
// does.
package main

import (
	"log"
	"syscall"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

func main() {
	f := frame.Parse()
	f.Each(func(int) {
		s := segment(f.Unit)
		if f.Repaired {
			syscall.Munmap(s)
		}
	})
	f.Stay()
}

func segment(size int) []byte {
	s, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE) // truth: allocates
	if err != nil {
		log.Fatal(err)
	}
	return frame.Touch(s) // truth: allocates
}
