// Luascripts checks orders by a script of the shop's, each in a thread of its own of
// yuin/gopher-lua, with the order in the thread's context. A thread that yields waits for
// somebody to approve, and is left there when nobody does: the function that NewThread
// gives to cancel its context is not called, and the service's context keeps each one
// as its child, with its order. Repaired, it is called.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"

	lua "github.com/yuin/gopher-lua"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

const script = `
function check(number, cents, stock)
	local points = 0
	for i = 1, 40 do
		points = points + (number * i + cents) % 97
	end
	return coroutine.yield(points % 10 ~= 0 and stock > 0)
end
`

type order struct {
	number, cents int
	form          []byte // as it was sent
}

type orderKey struct{}

type engine struct {
	service  context.Context
	state    *lua.LState
	check    *lua.LFunction
	stock    map[int][]int32 // 14 MiB: of each article, by day
	repaired bool
	accepted int
}

func main() {
	f := frame.Parse()
	service, stop := context.WithCancel(context.Background())
	defer stop()
	e := &engine{service: service, stock: map[int][]int32{}, repaired: f.Repaired}
	for n := range 14 << 20 / (4 << 10) {
		e.stock[n] = make([]int32, 1<<10)
		for day := range e.stock[n] {
			e.stock[n][day] = int32((n + day) % 40)
		}
	}
	if err := e.load(); err != nil {
		log.Fatal(err)
	}
	defer e.state.Close()
	f.Each(func(i int) {
		if err := e.take(newOrder(i, f.Unit)); err != nil {
			log.Fatal(err)
		}
	})
	f.Stay()
}

func (e *engine) load() error {
	e.state = lua.NewState(lua.Options{RegistrySize: 512, CallStackSize: 32})
	if err := e.state.DoString(script); err != nil {
		return err
	}
	check, ok := e.state.GetGlobal("check").(*lua.LFunction)
	if !ok {
		return errors.New("the script has no function check")
	}
	e.check = check
	return nil
}

func newOrder(i, size int) *order {
	o := &order{number: i, cents: 100 + i*37%9000}
	o.form = frame.Touch(make([]byte, size)) // truth: allocates
	return o
}

// take runs the script in a thread that knows the order by its context.
func (e *engine) take(o *order) error {
	e.state.SetContext(context.WithValue(e.service, orderKey{}, o)) // truth: keeps
	thread, cancel := e.state.NewThread()                           // truth: keeps
	if e.repaired {
		defer cancel()
	}
	days := e.stock[o.number%len(e.stock)]
	left := days[o.number%len(days)]
	how, err, values := e.state.Resume(thread, e.check, lua.LNumber(o.number), lua.LNumber(o.cents), lua.LNumber(left))
	if err != nil {
		return fmt.Errorf("order %d: %w", o.number, err)
	}
	if how == lua.ResumeYield && len(values) == 1 && lua.LVAsBool(values[0]) {
		e.accepted++
	}
	return nil
}
