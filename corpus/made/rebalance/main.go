// Rebalance is a store in shards. One shard after another is moved to a node that has less:
// its entries are copied, the copy is compared, and the old one is dropped. In all there are
// as many entries as before, and those of one shard twice for a moment. No fault, and it has
// no faulty form.
package main

import (
	"bytes"
	"errors"
	"log"
	"time"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

const shards = 64

type shard struct {
	number  int
	entries map[int][]byte
}

type node struct {
	name   string
	shards map[int]*shard
}

func (n *node) entries() (all int) {
	for _, s := range n.shards {
		all += len(s.entries)
	}
	return all
}

type cluster struct {
	nodes [3]*node
	moved int
}

func newCluster(entries, size int) *cluster {
	c := &cluster{}
	for i := range c.nodes {
		c.nodes[i] = &node{name: string(rune('a' + i)), shards: map[int]*shard{}}
	}
	for i := range shards {
		c.nodes[0].shards[i] = &shard{i, map[int][]byte{}}
	}
	for i := range entries {
		c.nodes[0].shards[i%shards].entries[i] = frame.Touch(make([]byte, size))
	}
	return c
}

var errDiffers = errors.New("the copy differs")

// move copies a shard from one node to another and drops it there.
func (c *cluster) move(number int, from, to *node) error {
	old := from.shards[number]
	s := &shard{number, make(map[int][]byte, len(old.entries))}
	for key, value := range old.entries {
		s.entries[key] = bytes.Clone(value)
	}
	for key, value := range old.entries {
		if !bytes.Equal(value, s.entries[key]) {
			return errDiffers
		}
	}
	to.shards[number] = s
	delete(from.shards, number)
	c.moved++
	return nil
}

// step moves one shard from the fullest node to the emptiest.
func (c *cluster) step(n int) error {
	most, least := c.nodes[n%3], c.nodes[(n+1)%3]
	for _, node := range c.nodes {
		if node.entries() > most.entries() {
			most = node
		}
		if node.entries() < least.entries() {
			least = node
		}
	}
	for number := range most.shards {
		return c.move(number, most, least)
	}
	return nil
}

func main() {
	f := frame.Parse()
	c := newCluster(f.Count(), f.Unit)
	log.Print(frame.Done)
	for n := 0; !f.Over(); n++ {
		if err := c.step(n); err != nil {
			log.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
	}
	log.Printf("%d shards moved", c.moved)
}
