// Yamlalias is a deployment service that reads manifests which its tenants send as YAML and keeps
// the last ones. One tenant's manifest is a few hundred bytes of aliases to aliases.
package main

import (
	"flag"
	"fmt"
	"log"
	"strings"
	"time"

	"gopkg.in/yaml.v2"
)

// registry has the manifests of all tenants, about 25 MiB: filled at the start, replaced in place.
type registry struct{ manifests [8000]map[string]interface{} }

func manifest(n int) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "name: service-%d\nreplicas: 3\nenv:\n", n)
	for i := range 12 {
		fmt.Fprintf(&b, "  KEY_%d: value %d of %d\n", i, i, n)
	}
	return []byte(b.String())
}

// bomb has levels of 9 aliases each: 9^levels strings for a parser that expands them.
func bomb(levels int) []byte {
	var b strings.Builder
	b.WriteString("l0: &l0 [x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < levels; i++ {
		fmt.Fprintf(&b, "l%d: &l%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*l%d, ", i-1), 9), ", "))
	}
	return []byte(b.String())
}

func (r *registry) accept(tenant int, text []byte) error {
	var m map[string]interface{}
	if err := yaml.Unmarshal(text, &m); err != nil {
		return err
	}
	r.manifests[tenant%len(r.manifests)] = map[string]interface{}{"name": m["name"], "env": m["env"]}
	return nil
}

func main() {
	last := flag.Duration("for", 25*time.Second, "how long the load lasts")
	flag.Parse()
	r := &registry{}
	end := time.Now().Add(*last)
	for n := range r.manifests {
		if err := r.accept(n, manifest(n)); err != nil {
			log.Fatal(err)
		}
	}
	hostile := bomb(7)
	for n := 0; time.Now().Before(end); n++ {
		time.Sleep(2 * time.Millisecond)
		if err := r.accept(n, manifest(n)); err != nil {
			log.Fatal(err)
		}
		if n%1500 == 499 {
			err := r.accept(n, hostile)
			log.Printf("hostile manifest: %v", err)
		}
	}
}
