// Onevalue reads a file at once and splits it into lines to count its words, every
// other second. Repaired, it scans the file.
package main

import (
	"bufio"
	"log"
	"os"
	"strings"
	"time"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

func main() {
	f := frame.Parse()
	name := write(int(f.Total))
	defer os.Remove(name)
	count := countAll
	if f.Repaired {
		count = countLines
	}
	for !f.Over() {
		if count(name) == 0 {
			log.Fatal("no words in ", name)
		}
		pause := time.Now().Add(2 * time.Second)
		for !f.Over() && time.Now().Before(pause) {
			time.Sleep(20 * time.Millisecond)
		}
	}
}

func write(size int) string {
	file, err := os.CreateTemp(".", "words-")
	if err != nil {
		log.Fatal(err)
	}
	w := bufio.NewWriter(file)
	for n := 0; n < size; n += 64 {
		w.WriteString("these are eight words, and there is a line end behind all eight\n")
	}
	if err := w.Flush(); err != nil {
		log.Fatal(err)
	}
	file.Close()
	return file.Name()
}

func countAll(name string) (words int) {
	text, err := os.ReadFile(name) // truth: allocates
	if err != nil {
		log.Fatal(err)
	}
	for _, line := range strings.Split(string(text), "\n") { // truth: allocates
		words += len(strings.Fields(line))
	}
	return words
}

func countLines(name string) (words int) {
	file, err := os.Open(name)
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		words += len(strings.Fields(lines.Text()))
	}
	return words
}
