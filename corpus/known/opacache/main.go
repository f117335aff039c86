// Opacache decides who may do what and asks a backend of roles, whose answers it keeps for a moment
// in OPA's cache between queries, bounded to 8 MiB. It keeps the rules of its tenants, 25 MiB.
package main

import (
	"flag"
	"fmt"
	"log"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/ast"
	"github.com/open-policy-agent/opa/topdown/cache"
)

// roles are an answer of the backend, which is fresh for a while.
type roles struct {
	names string
	until time.Time
}

func (r *roles) SizeInBytes() int64 { return int64(len(r.names)) }

type gate struct {
	answers cache.InterQueryCache
	rules   [25_000]string
}

func newGate() *gate {
	bound := int64(8 << 20)
	config := &cache.Config{InterQueryBuiltinCache: cache.InterQueryBuiltinCacheConfig{MaxSizeBytes: &bound}}
	g := &gate{answers: cache.NewInterQueryCache(config)}
	for i := range g.rules {
		g.rules[i] = strings.Repeat("r", 1000)
	}
	return g
}

// question is what the backend is asked, with all that makes its answer another one.
func question(user int) ast.Value {
	return ast.NewObject(
		ast.Item(ast.StringTerm("method"), ast.StringTerm("get")),
		ast.Item(ast.StringTerm("url"), ast.StringTerm(fmt.Sprint("http://roles/", user))),
		ast.Item(ast.StringTerm("token"), ast.StringTerm(strings.Repeat(fmt.Sprintf("%08d", user), 100))),
	)
}

// roles of a user come from the cache while they are fresh.
func (g *gate) roles(user int) string {
	key := question(user)
	if old, ok := g.answers.Get(key); ok {
		if r := old.(*roles); time.Now().Before(r.until) {
			return r.names
		}
	}
	r := &roles{fmt.Sprint("reader,writer of ", user), time.Now().Add(200 * time.Millisecond)}
	g.answers.Insert(key, r)
	return r.names
}

func (g *gate) allowed(user int) bool {
	return strings.Contains(g.roles(user), "reader") && g.rules[user%len(g.rules)] != ""
}

func main() {
	last := flag.Duration("for", 25*time.Second, "how long the load lasts")
	flag.Parse()
	g := newGate()
	end, tick := time.Now().Add(*last), time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for n := 0; time.Now().Before(end); n++ {
		<-tick.C
		for i := range 3 {
			if !g.allowed((3*n + i) % 900) {
				log.Fatal("not allowed")
			}
		}
	}
}
