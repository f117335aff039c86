package app

import "time"

// childExits bounds what the heaps of children take of the time that end by themselves: a build
// starts a compiler for each package, and to analyze the heap of each took longer than to compile.
type childExits struct {
	busy bool
	next time.Time
}

// follows tells which program is watched with its children.
func (t *heapTaker) follows(pid int) {
	if t != nil {
		t.main = pid
	}
}

// childExit says whether the heap of a child that ends by itself, and that nobody asked for, may
// be captured: one at a time, for one in quietShare of the time, and none of many. The caller calls spent when all
// is done with it.
func (t *heapTaker) childExit() (spent func(), ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	began := time.Now()
	if c := &t.children; c.busy || began.Before(c.next) || t.manyChildren() {
		return nil, false
	}
	t.children.busy = true
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		now := time.Now()
		t.children = childExits{next: now.Add(quietShare * now.Sub(began))}
	}, true
}

// manyShare is quietShare of a program that starts many children: of those heaps are captured at peaks alone.
const manyShare = 100

func (t *heapTaker) manyChildren() bool {
	return t.ByDefault && t.source != nil && t.source.ManyChildren()
}

// analysisShare is the part of the time, one in so many, that may be spent on analyzing heaps that nobody asked for.
func (t *heapTaker) analysisShare() time.Duration {
	if t.manyChildren() {
		return manyShare
	}
	return quietShare
}

// startsMany says that nobody asked for heaps, and that many programs are started just now. Of each the memory for a copy
// would be taken, and its code read, before it is known that it has ended. A kill is captured all the same.
func (t *heapTaker) startsMany() bool {
	return t.ByDefault && t.source != nil && t.source.StartsMany()
}
