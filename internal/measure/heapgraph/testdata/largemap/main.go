// Command largemap has a map of 100,000 entries whose header lies on main's stack, in a struct without a variable of its own, and says {}.
package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
)

type key struct {
	account uint32
	day     int
}

type verdict struct{ trace []string }

type engine struct {
	runs int
	memo map[key]*verdict
}

func newEngine() *engine { return &engine{memo: make(map[key]*verdict)} }

func (e *engine) judge(k key) *verdict {
	if v, ok := e.memo[k]; ok {
		return v
	}
	v := &verdict{[]string{"day", "account"}}
	e.memo[k] = v
	e.runs++
	return v
}

func main() {
	e := newEngine()
	for i := range make([]int, 100_000) {
		e.judge(key{uint32(i), i})
	}
	runtime.GC()
	fmt.Println("{}")
	io.Copy(io.Discard, os.Stdin)
	fmt.Println(e.runs, len(e.judge(key{1, 1}).trace))
}
