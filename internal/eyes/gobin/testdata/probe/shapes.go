package main

import (
	"runtime/debug"
	"sort"
	"strings"
)

// Allocations in every shape of call that the compiler knows; the blobs are kept,
// so that they stay in the heap profile.

type blob [4096]byte

var kept []any

func keep(v any) { kept = append(kept, v) }

type list[T any] struct{ items []T }

func (l *list[T]) add(v T) { l.items = append(l.items, v); keep(new(blob)) }

func pair[K comparable, V any](k K, v V) map[K]V {
	keep(new(blob))
	return map[K]V{k: v}
}

type shape interface{ grow() }

type square struct{ n int }

func (s square) grow() { keep(new(blob)) } // called through the wrapper (*square).grow

type tower struct{ *square }

type node struct{ next *node }

//go:noinline
func (n *node) deep(i int) *node {
	if i == 0 {
		keep(new(blob))
		return n
	}
	return (&node{next: n}).deep(i - 1)
}

func inner() { keep(new(blob)) } // inlined into middle, and that into shapes

func middle() { inner() }

//go:noinline
func panics() {
	defer func() {
		keep(new(blob))
		_ = recover()
	}()
	var s shape
	s.grow()
}

//go:noinline
func shapes() {
	middle()
	(&list[string]{}).add("a")
	(&list[*node]{}).add(nil)
	pair("k", 1)
	pair(1, struct{}{})
	for _, s := range []shape{square{1}, &square{2}, tower{&square{3}}} {
		s.grow()
	}
	f := square{4}.grow
	func() { f() }()
	(&node{}).deep(3)
	panics()
	done := make(chan bool)
	go func() { inner(); close(done) }()
	<-done
	words := strings.Fields("c b a")
	sort.Slice(words, func(i, j int) bool { keep(new(blob)); return words[i] < words[j] })
	defer middle()
	debug.FreeOSMemory()
}
