// Followers is the leader of a replicated store. It keeps its log until all followers have
// what is in it, and removes what the slowest one has acknowledged. A follower that was
// taken out of the cluster is still asked: it acknowledges nothing any more, and the log is
// not shortened again. Repaired, it is forgotten when it is taken out.
package main

import (
	"fmt"
	"hash/crc32"
	"log"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type record struct {
	index   uint64
	key     string
	value   []byte
	checked uint32
}

// segment is a part of the log.
type segment struct {
	first, last uint64
	records     []*record
}

const perSegment = 64

type leader struct {
	segments []*segment
	next     uint64
	acked    map[string]uint64 // by follower
	members  map[string]bool
	table    map[string][]byte // 20 MiB
	forget   bool
	removed  int
}

func newLeader(forget bool) *leader {
	l := &leader{acked: map[string]uint64{}, members: map[string]bool{}, table: map[string][]byte{}, forget: forget}
	for i := range 20 << 8 {
		l.table[fmt.Sprintf("key-%05d", i)] = frame.Touch(make([]byte, 4<<10))
	}
	return l
}

func (l *leader) join(name string) {
	l.members[name], l.acked[name] = true, l.next
}

func (l *leader) leave(name string) {
	delete(l.members, name)
	if l.forget {
		delete(l.acked, name) // truth: forgets
	}
}

// propose appends to the log and to the table.
func (l *leader) propose(key string, value []byte) *record {
	l.next++
	r := &record{l.next, key, value, crc32.ChecksumIEEE(value)}
	n := len(l.segments)
	if n == 0 || len(l.segments[n-1].records) == perSegment {
		l.segments = append(l.segments, &segment{first: r.index}) // truth: keeps
		n++
	}
	s := l.segments[n-1]
	s.records, s.last = append(s.records, r), r.index // truth: keeps
	copy(l.table[key], value)
	return r
}

func (l *leader) ack(name string, index uint64) {
	if l.members[name] {
		l.acked[name] = index
		l.truncate()
	}
}

// truncate drops the segments that everybody has.
func (l *leader) truncate() {
	slowest := l.next
	for _, index := range l.acked { // truth: asks
		slowest = min(slowest, index)
	}
	for len(l.segments) > 1 && l.segments[0].last <= slowest {
		l.segments[0] = nil
		l.segments = l.segments[1:]
		l.removed++
	}
}

func main() {
	f := frame.Parse()
	l := newLeader(f.Repaired)
	for _, name := range []string{"fra-1", "fra-2", "ams-1"} {
		l.join(name)
	}
	f.Each(func(i int) {
		value := frame.Touch(make([]byte, f.Unit)) // truth: allocates
		r := l.propose(fmt.Sprintf("key-%05d", i%(20<<8)), value)
		if i == 20 { // its machine is replaced
			l.leave("ams-1")
			l.join("ams-2")
		}
		for name := range l.members {
			l.ack(name, r.index)
		}
	})
	f.Stay()
	log.Printf("%d segments removed, %d there", l.removed, len(l.segments))
}
