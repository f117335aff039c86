// Tmpfs writes scratch files to memory (/dev/shm) and keeps them. Repaired, it
// removes each when the next one is written. The files have no names, so that they
// end with the program.
package main

import (
	"log"
	"os"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

func main() {
	f := frame.Parse()
	var files []*os.File
	f.Each(func(int) {
		files = append(files, scratch(f.Unit))
		if f.Repaired && len(files) > 1 {
			files[0].Close()
			files = files[1:]
		}
	})
	f.Stay()
}

func scratch(size int) *os.File {
	file, err := os.CreateTemp("/dev/shm", "scratch-")
	if err != nil {
		log.Fatal(err)
	}
	os.Remove(file.Name())
	part := make([]byte, 64<<10)
	for n := 0; n < size; n += len(part) {
		if _, err := file.Write(frame.Touch(part)); err != nil { // truth: writes
			log.Fatal(err)
		}
	}
	return file
}
