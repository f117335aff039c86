// Luathreads is a game server whose rules are Lua: each event of a player is a coroutine of the
// same script, which ends soon. The server keeps the map, 30 MiB.
package main

import (
	"context"
	"flag"
	"log"
	"time"

	lua "github.com/yuin/gopher-lua"
)

const script = `
score = 0
function hit(n)
	coroutine.yield(n)
	score = score + n % 7
	return score
end
`

// life is a game's context: it ends when the game is over.
type life struct{ over chan struct{} }

func (l life) Deadline() (end time.Time, ok bool) { return }
func (l life) Done() <-chan struct{}              { return l.over }
func (l life) Value(any) any                      { return nil }

func (l life) Err() error {
	select {
	case <-l.over:
		return context.Canceled
	default:
		return nil
	}
}

type game struct {
	tiles [30][]byte
	rules *lua.LState
	hit   *lua.LFunction
}

func newGame(ctx context.Context) (*game, error) {
	g := &game{rules: lua.NewState(lua.Options{RegistrySize: 256, CallStackSize: 32})}
	for i := range g.tiles {
		g.tiles[i] = make([]byte, 1<<20)
		for j := range g.tiles[i] {
			g.tiles[i][j] = byte(j)
		}
	}
	g.rules.SetContext(ctx)
	if err := g.rules.DoString(script + coroutines); err != nil {
		return nil, err
	}
	g.hit = g.rules.GetGlobal("event").(*lua.LFunction)
	return g, nil
}

// coroutines is the part of the script that makes a coroutine for an event and runs it to its end.
const coroutines = `
function event(n)
	local c = coroutine.create(hit)
	coroutine.resume(c, n)
	coroutine.resume(c)
	return score
end
`

func (g *game) event(n int) error {
	g.tiles[n%len(g.tiles)][n%(1<<20)]++
	return g.rules.CallByParam(lua.P{Fn: g.hit, NRet: 0, Protect: true}, lua.LNumber(n))
}

func main() {
	last := flag.Duration("for", 25*time.Second, "how long the load lasts")
	flag.Parse()
	g, err := newGame(life{make(chan struct{})})
	if err != nil {
		log.Fatal(err)
	}
	end, tick := time.Now().Add(*last), time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for n := 0; time.Now().Before(end); n++ {
		<-tick.C
		for range 2 {
			if err := g.event(n); err != nil {
				log.Fatal(err)
			}
		}
	}
}
