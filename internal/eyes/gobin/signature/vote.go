package signature

import (
	"fmt"
	"slices"
)

// What a site's vote counts for.
const (
	exactVote  = 10 // the function is compiled as in the table
	likeVote   = 2  // it has as many references, and this one reads the same
	singleVote = 1  // just one of its references reads the same
)

// maxDissent is how many of a hundred votes may be against. Within a minor version
// one in a hundred was seen; wrong answers, all from other minor versions, had
// twelve or more.
const maxDissent = 5

// minVotes is how many votes elect: one exact site, or two functions that are alike.
const minVotes = 4

// maxCode bounds the functions that are decoded. The longest in the tables have
// 6,000 bytes.
const maxCode = 32 << 10

// Code is a function's instructions and where they lie.
type Code struct {
	Bytes []byte
	PC    uint64
}

// Elected is the outcome for one variable.
type Elected struct {
	Addr         uint64 // link-time
	For, Against int    // votes
}

// Err says why the outcome is refused, nil if it is not.
func (e Elected) Err() error {
	switch {
	case e.For == 0:
		return fmt.Errorf("no function in it is known to use it")
	case e.For < minVotes:
		return fmt.Errorf("only %d votes of its functions say where it is", e.For)
	case e.Against*100 > maxDissent*(e.For+e.Against):
		return fmt.Errorf("its functions disagree on where it is (%d votes for, %d against)", e.For, e.Against)
	}
	return nil
}

// Wants says whether the code of a function of that name is needed for Elect.
func (s *Set) Wants(name []byte) bool { return s.functions[string(name)] != nil }

// Elect lets functions vote, by name, on where the set's variables are. Of several
// functions of one name those vote whose code is in the set. Votes for addresses
// that are not valid do not count. The result has every variable of the set.
func (s *Set) Elect(code map[string][]Code, valid func(addr uint64) bool) map[string]Elected {
	votes := make(map[string]map[uint64]int)
	var refs []Ref // reused
	for name, forms := range s.functions {
		for _, f := range forms {
			for _, st := range f.sites {
				if votes[st.variable] == nil {
					votes[st.variable] = make(map[uint64]int)
				}
			}
		}
		for _, c := range code[name] {
			body, known := ReadBody(s.arch, refs[:0], c.Bytes[:min(len(c.Bytes), maxCode)], c.PC)
			refs = body.Refs
			f := choose(forms, body)
			if !known || f.hash != body.Hash && len(code[name]) > 1 {
				continue
			}
			for _, st := range f.sites {
				target, n := f.vote(st, body)
				if addr := target - uint64(st.addend); n > 0 && valid(addr) {
					votes[st.variable][addr] += n
				}
			}
		}
	}
	return count(votes)
}

// choose is the form of a function that is most like the program's.
func choose(forms []*function, body Body) *function {
	for _, f := range forms {
		if f.hash == body.Hash {
			return f
		}
	}
	for _, f := range forms {
		if f.refs == len(body.Refs) {
			return f
		}
	}
	return forms[0]
}

// vote is what a site says in a program's form of the function.
func (f *function) vote(st site, body Body) (target uint64, votes int) {
	same := func(r Ref) bool { return r.Text == st.text }
	if k := st.ref; f.refs == len(body.Refs) && k < f.refs {
		switch {
		case f.hash == body.Hash:
			return body.Refs[k].Target, exactVote
		case same(body.Refs[k]):
			return body.Refs[k].Target, likeVote
		}
	}
	k := slices.IndexFunc(body.Refs, same)
	if k < 0 || slices.ContainsFunc(body.Refs[k+1:], same) {
		return 0, 0
	}
	return body.Refs[k].Target, singleVote
}

func count(votes map[string]map[uint64]int) map[string]Elected {
	result := make(map[string]Elected, len(votes))
	for name, addrs := range votes {
		var e Elected
		sum := 0
		for addr, n := range addrs {
			sum += n
			if n > e.For || n == e.For && addr < e.Addr {
				e.Addr, e.For = addr, n
			}
		}
		e.Against = sum - e.For
		result[name] = e
	}
	return result
}
