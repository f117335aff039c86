// Autocomplete learns what users type, letter by letter, and proposes what begins
// alike. It learns also what was typed once and never forgets. Repaired, a letter
// is learned as long as the tree has less than 20,000.
package main

import (
	"strconv"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

// perLetter is about what a letter takes, in bytes.
const perLetter = 200

type node struct {
	next  map[byte]*node
	times int
}

type index struct {
	root    node
	letters int
	most    int // 0: no bound
}

func main() {
	f := frame.Parse()
	x := &index{}
	if f.Repaired {
		x.most = 20_000
	}
	offered, typed := int64(0), uint64(0)
	f.Each(func(i int) {
		for ; offered < int64(i+1)*int64(f.Unit); offered += 10 * perLetter {
			typed++
			text := strconv.FormatUint(typed*0x9E3779B97F4A7C15, 36)
			x.learn(text)
			x.propose(text[:1])
		}
	})
	f.Stay()
}

func (x *index) learn(text string) {
	at := &x.root
	for i := range len(text) {
		child := at.next[text[i]]
		if child == nil {
			if x.most > 0 && x.letters >= x.most {
				return
			}
			child = x.grow(at, text[i])
		}
		at = child
	}
	at.times++
}

func (x *index) grow(at *node, letter byte) *node {
	if at.next == nil {
		at.next = map[byte]*node{} // truth: allocates
	}
	child := &node{}        // truth: allocates
	at.next[letter] = child // truth: keeps
	x.letters++
	return child
}

// propose follows the first branch that there is.
func (x *index) propose(start string) (text string) {
	at := &x.root
	for i := range len(start) {
		if at = at.next[start[i]]; at == nil {
			return ""
		}
	}
	for len(at.next) > 0 {
		for letter, child := range at.next {
			text, at = text+string(letter), child
			break
		}
	}
	return start + text
}
