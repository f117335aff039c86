// Roadgraph is a job: it reads the crossings and roads of a country into a graph of
// dominikbraun/graph, looks for the shortest way between some towns, and ends. No fault, and
// it has no faulty form.
package main

import (
	"errors"
	"fmt"
	"log"

	"github.com/dominikbraun/graph"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

// nodeBytes is what a crossing takes in the graph besides its picture.
const nodeBytes = 900

type crossing struct {
	number  int
	picture []byte
}

type country struct {
	roads     graph.Graph[int, *crossing]
	crossings int
	width     int
}

func main() {
	f := frame.Parse()
	c := &country{roads: graph.New(func(c *crossing) int { return c.number }, graph.Directed(), graph.Weighted()), width: 64}
	f.EachAtWork(func(i int) {
		if err := c.read(i, max(64, f.Unit-nodeBytes)); err != nil {
			log.Fatal(err)
		}
	})
	for n := range 3 {
		if f.Over() {
			break
		}
		km, err := c.way(n, min(c.crossings-1, 4000*(n+1)))
		if err != nil {
			log.Fatal(err)
		}
		log.Printf("way %d passes %d crossings", n, km)
	}
}

// read adds crossing i, with roads from its neighbours west and north of it.
func (c *country) read(i, size int) error {
	x := &crossing{number: i, picture: frame.Touch(make([]byte, size))} // truth: allocates
	if err := c.roads.AddVertex(x); err != nil {                        // truth: allocates
		return err
	}
	c.crossings++
	for _, from := range []int{i - 1, i - c.width} {
		if from < 0 {
			continue
		}
		if err := c.roads.AddEdge(from, i, graph.EdgeWeight(1+(from*7+i)%9)); err != nil { // truth: allocates
			return err
		}
	}
	return nil
}

// way goes along the cheapest roads from one crossing to another.
func (c *country) way(from, to int) (crossings int, err error) {
	if from >= to {
		return 0, nil
	}
	for at := to; at > from; crossings++ {
		west, errWest := c.roads.Edge(at-1, at)
		north, errNorth := c.roads.Edge(at-c.width, at)
		if errWest != nil && errNorth != nil {
			return 0, fmt.Errorf("crossing %d: %w", at, errors.Join(errWest, errNorth))
		}
		if errNorth == nil && at-c.width >= from && (errWest != nil || north.Properties.Weight < west.Properties.Weight) {
			at -= c.width
			continue
		}
		at--
	}
	return crossings, nil
}
