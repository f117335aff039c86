package main

import (
	"hash/fnv"
	"sort"
	"strconv"
)

// node is a search tree's, whose making and forgetting is the job.
type node struct {
	left, right *node
	key         string
}

func (n *node) insert(key string) *node {
	switch {
	case n == nil:
		return &node{key: key}
	case key < n.key:
		n.left = n.left.insert(key)
	default:
		n.right = n.right.insert(key)
	}
	return n
}

func (n *node) keys(to []string) []string {
	if n == nil {
		return to
	}
	return n.right.keys(append(n.left.keys(to), n.key))
}

// job does the same work each time: trees of strings, some kept for a while, so
// that the collector runs all along.
func job(rounds int) {
	sum := fnv.New64a()
	held := make([]*node, 8)
	for round := range rounds {
		var tree *node
		x := uint32(round + 1)
		for range 20000 {
			x = x*1664525 + 1013904223
			tree = tree.insert(strconv.FormatUint(uint64(x), 36))
		}
		held[round%len(held)] = tree
		keys := tree.keys(nil)
		sort.Sort(sort.Reverse(sort.StringSlice(keys)))
		for _, k := range keys {
			sum.Write([]byte(k))
		}
	}
	checksum = sum.Sum64()
}

var checksum uint64
