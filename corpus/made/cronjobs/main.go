// Cronjobs reads its configuration again and again and registers a job of it with a
// cron scheduler each time; the job of the last configuration stays registered, and
// holds what was read. Repaired, it is removed.
package main

import (
	"log"

	"github.com/robfig/cron/v3"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type config struct {
	revision int
	rules    []byte
}

type service struct {
	jobs     *cron.Cron
	current  cron.EntryID
	repaired bool
	rotated  int
}

func main() {
	f := frame.Parse()
	s := &service{jobs: cron.New(), repaired: f.Repaired}
	s.jobs.Start()
	f.Each(func(i int) { s.reload(readConfig(i, f.Unit)) })
	f.Stay()
}

func readConfig(revision, size int) *config {
	return &config{revision, frame.Touch(make([]byte, size))} // truth: allocates
}

func (s *service) reload(c *config) {
	id, err := s.jobs.AddFunc("@daily", func() { s.rotate(c) }) // truth: keeps
	if err != nil {
		log.Fatal(err)
	}
	if s.repaired && s.current != 0 {
		s.jobs.Remove(s.current)
	}
	s.current = id
}

func (s *service) rotate(c *config) {
	for range c.rules {
		s.rotated++
	}
}
