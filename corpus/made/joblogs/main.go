// Joblogs gives each job a log of its own, a file that natefinch/lumberjack rotates, and
// closes it when the job is done. Close does not end the goroutine that removes old
// files (lumberjack issue 56), so that each log leaves one. Repaired, all jobs have one log.
package main

import (
	"fmt"
	"hash/crc32"
	"io"
	"log"
	"os"
	"path/filepath"

	"gopkg.in/natefinch/lumberjack.v2"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

// jobBytes is what a log leaves, with its goroutine.
const jobBytes = 5 << 10

type runner struct {
	dir      string
	all      *lumberjack.Logger // of the repaired one
	inputs   [][]byte           // 14 MiB
	sum      uint32
	done     int
	reported int
}

func main() {
	f := frame.Parse()
	dir, err := os.MkdirTemp("", "joblogs-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	r := &runner{dir: dir}
	if f.Repaired {
		r.all = &lumberjack.Logger{Filename: filepath.Join(dir, "jobs.log"), MaxSize: 1, MaxBackups: 1}
	}
	for range 14 << 20 / (8 << 10) {
		r.inputs = append(r.inputs, frame.Touch(make([]byte, 8<<10)))
	}
	jobs := max(1, f.Unit/jobBytes)
	f.Each(func(i int) {
		for n := range jobs {
			if err := r.run(i*jobs + n); err != nil {
				log.Fatal(err)
			}
		}
	})
	f.Stay()
}

func (r *runner) run(job int) error {
	if r.all != nil {
		return r.work(job, r.all)
	}
	name := filepath.Join(r.dir, fmt.Sprintf("job-%d.log", job))
	own := &lumberjack.Logger{Filename: name, MaxSize: 1, MaxBackups: 1} // truth: makes
	if err := r.work(job, own); err != nil {                             // truth: starts
		return err
	}
	if err := own.Close(); err != nil {
		return err
	}
	r.reported++
	return os.Remove(name) // it has been read
}

// work does a job, and says so.
func (r *runner) work(job int, to io.Writer) error {
	input := r.inputs[job%len(r.inputs)]
	r.sum ^= crc32.ChecksumIEEE(input)
	r.done++
	_, err := fmt.Fprintf(to, "job %d: %d bytes, sum %08x\n", job, len(input), r.sum) // truth: starts
	return err
}
