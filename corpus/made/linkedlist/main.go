// Linkedlist logs events into a list and keeps its head. Repaired, the head moves
// on when there are more than 400.
package main

import "github.com/highwater-go/highwater/corpus/made/frame"

type event struct {
	next *event
	text []byte
}

type eventLog struct {
	head, tail *event
	length     int
}

func main() {
	f := frame.Parse()
	l := &eventLog{}
	f.Each(func(int) {
		l.add(f.Unit)
		if f.Repaired && l.length > 400 {
			l.head, l.length = l.head.next, l.length-1
		}
	})
	f.Stay()
	if l.head == nil {
		panic("no event")
	}
}

func (l *eventLog) add(size int) {
	e := &event{text: frame.Touch(make([]byte, size))} // truth: allocates
	if l.head == nil {
		l.head = e
	} else {
		l.tail.next = e // truth: keeps
	}
	l.tail = e
	l.length++
}
