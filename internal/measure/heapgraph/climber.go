package heapgraph

import "sync"

// climber finds what two nodes' dominators have in common. Few steps are taken one
// by one. For many, each node knows one more node above it, at a distance that makes
// the ways of skew-binary numbers (Myers, An Applicative Random-Access Stack, 1983),
// so that their number grows with the logarithm of the depth.
type climber struct {
	dom        []uint32
	depth, far []uint32 // made when they are needed
	made       sync.Once
}

// fewSteps is as deep as most of a heap lies below what its objects share.
const fewSteps = 24

// common is the nearest node above or at both: what has the greater number is not
// above the other.
func (c *climber) common(a, b uint32) uint32 {
	for range fewSteps {
		switch {
		case a == 0 || b == 0: // all roots: much of a heap is shared by several
			return 0
		case a > b:
			a = c.dom[a]
		case a < b:
			b = c.dom[b]
		default:
			return a
		}
	}
	return c.farCommon(a, b)
}

func (c *climber) farCommon(a, b uint32) uint32 {
	c.made.Do(c.prepare)
	for c.depth[a] > c.depth[b] {
		a = c.up(a, c.depth[b])
	}
	for c.depth[b] > c.depth[a] {
		b = c.up(b, c.depth[a])
	}
	for a != b {
		if c.far[a] == c.far[b] {
			a, b = c.dom[a], c.dom[b]
		} else {
			a, b = c.far[a], c.far[b]
		}
	}
	return a
}

// prepare fills in depths and far nodes.
func (c *climber) prepare() {
	c.depth, c.far = table(len(c.dom)), table(len(c.dom))
	for i := 1; i < len(c.dom); i++ {
		up := c.dom[i]
		c.depth[i], c.far[i] = c.depth[up]+1, up
		if over := c.far[up]; c.depth[up]-c.depth[over] == c.depth[over]-c.depth[c.far[over]] {
			c.far[i] = c.far[over]
		}
	}
}

// up is a step towards the node above v at a depth.
func (c *climber) up(v, depth uint32) uint32 {
	if far := c.far[v]; c.depth[far] >= depth {
		return far
	}
	return c.dom[v]
}
