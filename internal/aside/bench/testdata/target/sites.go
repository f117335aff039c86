package main

var kept [][]byte

// depth is how many calls a site's number is spelled in, 32 lines a call:
// 32^4 stacks can be told apart.
const depth = 4

// allocate makes an object of 64 bytes and more at the stack that the number
// names: below 20 calls of a kind that every server has, each of the last four
// comes from one of 32 lines.
func allocate(site uint, more int) []byte { return descend(site, more, 16) }

//go:noinline
func descend(site uint, more, calls int) []byte {
	if calls == 0 {
		return branch(site, more, depth)
	}
	return descend(site, more, calls-1)
}

//go:noinline
func leaf(more int) []byte { return make([]byte, 64+more) }

// branch goes on from one of 32 lines, as the lowest digit of the number has it.
//
//go:noinline
func branch(site uint, more, left int) []byte {
	if left == 0 {
		return leaf(more)
	}
	next := site / 32
	switch site % 32 {
	case 0:
		return branch(next, more, left-1)
	case 1:
		return branch(next, more, left-1)
	case 2:
		return branch(next, more, left-1)
	case 3:
		return branch(next, more, left-1)
	case 4:
		return branch(next, more, left-1)
	case 5:
		return branch(next, more, left-1)
	case 6:
		return branch(next, more, left-1)
	case 7:
		return branch(next, more, left-1)
	case 8:
		return branch(next, more, left-1)
	case 9:
		return branch(next, more, left-1)
	case 10:
		return branch(next, more, left-1)
	case 11:
		return branch(next, more, left-1)
	case 12:
		return branch(next, more, left-1)
	case 13:
		return branch(next, more, left-1)
	case 14:
		return branch(next, more, left-1)
	case 15:
		return branch(next, more, left-1)
	case 16:
		return branch(next, more, left-1)
	case 17:
		return branch(next, more, left-1)
	case 18:
		return branch(next, more, left-1)
	case 19:
		return branch(next, more, left-1)
	case 20:
		return branch(next, more, left-1)
	case 21:
		return branch(next, more, left-1)
	case 22:
		return branch(next, more, left-1)
	case 23:
		return branch(next, more, left-1)
	case 24:
		return branch(next, more, left-1)
	case 25:
		return branch(next, more, left-1)
	case 26:
		return branch(next, more, left-1)
	case 27:
		return branch(next, more, left-1)
	case 28:
		return branch(next, more, left-1)
	case 29:
		return branch(next, more, left-1)
	case 30:
		return branch(next, more, left-1)
	case 31:
		return branch(next, more, left-1)
	}
	return nil
}
