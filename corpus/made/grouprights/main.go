// Grouprights asks casbin whether a request is allowed. Its CachedEnforcer keeps each
// decision by user, path and method, for ever unless it is given a time to expire
// (casbin/docs: "cached enforcer"), and the path is handed over with its query.
// Repaired, it is handed over without.
package main

import (
	"fmt"
	"log"
	"strings"

	"github.com/casbin/casbin/v2"
	"github.com/casbin/casbin/v2/model"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

const rules = `
[request_definition]
r = sub, obj, act

[policy_definition]
p = sub, obj, act

[role_definition]
g = _, _

[policy_effect]
e = some(where (p.eft == allow))

[matchers]
m = g(r.sub, p.sub) && keyMatch(r.obj, p.obj) && r.act == p.act
`

type gate struct {
	enforcer *casbin.CachedEnforcer
	profiles [][]byte // 15 MiB: of who is signed in
	repaired bool
	passed   int
}

func main() {
	f := frame.Parse()
	g, err := open(f.Repaired)
	if err != nil {
		log.Fatal(err)
	}
	f.Each(func(i int) {
		if err := g.serve(i, search(i, f.Unit)); err != nil {
			log.Fatal(err)
		}
	})
	f.Stay()
}

func open(repaired bool) (*gate, error) {
	m, err := model.NewModelFromString(rules)
	if err != nil {
		return nil, err
	}
	enforcer, err := casbin.NewCachedEnforcer(m)
	if err != nil {
		return nil, err
	}
	g := &gate{enforcer: enforcer, repaired: repaired}
	for _, area := range []string{"orders", "articles", "reports", "search"} {
		if _, err := enforcer.AddPolicy("clerks", "/"+area+"*", "GET"); err != nil {
			return nil, err
		}
	}
	for i := range 64 {
		if _, err := enforcer.AddGroupingPolicy(fmt.Sprintf("user-%d", i), "clerks"); err != nil {
			return nil, err
		}
	}
	for range 15 << 20 / (8 << 10) {
		g.profiles = append(g.profiles, frame.Touch(make([]byte, 8<<10)))
	}
	return g, nil
}

// search is what a client sends: some hundred filters, in the address.
func search(i, size int) string {
	var s strings.Builder
	s.Grow(size)
	fmt.Fprintf(&s, "/search?request=%d", i)
	for n := 0; s.Len()+24 < size; n++ {
		fmt.Fprintf(&s, "&filter%d=%d", n%100, i+n)
	}
	return s.String()
}

func (g *gate) serve(i int, address string) error {
	if len(g.profiles[i%len(g.profiles)]) == 0 {
		return fmt.Errorf("user %d has no profile", i%64)
	}
	path := address
	if g.repaired {
		path, _, _ = strings.Cut(address, "?")
	}
	ok, err := g.enforcer.Enforce(fmt.Sprintf("user-%d", i%64), path, "GET") // truth: keeps
	if err != nil {
		return err
	}
	if ok {
		g.passed++
	}
	return nil
}
