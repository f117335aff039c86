package heapgraph

import (
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
)

// Holders that need no name of a variable are named in a stripped program, too.
func TestTheHolderOfAStrippedProgramIsNamedWhereItIsNoVariable(t *testing.T) {
	hwtest.Need(t, hwtest.Ptrace)
	const n = 3000
	for _, version := range toolchains {
		for _, s := range shapes {
			if strings.HasPrefix(s.root, "main.") {
				continue
			}
			t.Run(version+"/"+s.name, func(t *testing.T) {
				p := startShape(t, hwtest.BuildOptions{Toolchain: version, Strip: true, PIE: true}, s.name, n)
				a := p.analyze(t)
				h := a.Holders()
				if len(h) == 0 || !strings.HasPrefix(h[0].Path, s.holder) {
					t.Fatalf("the largest holder is %+v, want %s", h, s.holder)
				}
				if h[0].Retained*2 < p.Retained {
					t.Errorf("it retains %d bytes, %d go with the shape", h[0].Retained, p.Retained)
				}
			})
		}
	}
}

func TestAPoolThatHoardsIsNamed(t *testing.T) {
	hwtest.Need(t, hwtest.Ptrace)
	const n = 1000
	for _, version := range toolchains {
		for name, o := range map[string]hwtest.BuildOptions{"main.buffers": {Toolchain: version}, "a variable at 0x": {Toolchain: version, Strip: true, PIE: true}} {
			t.Run(version+"/"+name, func(t *testing.T) {
				p := startShape(t, o, "pool", n)
				h, retained := p.analyze(t).Holders(), uint64(0)
				for _, x := range h { // the head of a P's chain, and the rest
					if strings.HasPrefix(x.Path, name) || strings.HasPrefix(x.Path, "sync.allPools") {
						retained += x.Retained
					}
				}
				if retained < n*4096*9/10 {
					t.Errorf("the largest holder is %+v", h)
				}
			})
		}
	}
}

// A pool keeps nothing for long. What it has may know a server that a goroutine runs.
func TestWhatAGoroutineKeepsIsNotAPools(t *testing.T) {
	hwtest.Need(t, hwtest.Ptrace)
	for _, version := range toolchains {
		for _, o := range []hwtest.BuildOptions{{Toolchain: version}, {Toolchain: version, Strip: true, PIE: true}} {
			for _, shape := range []string{"lent", "lentby"} {
				h := startShape(t, o, shape, 3000).analyze(t).Holders()
				if len(h) == 0 || !strings.HasPrefix(h[0].Path, "goroutine main.") {
					t.Errorf("%s, stripped %v, %s: the largest holder is %+v", version, o.Strip, shape, h)
				}
			}
		}
	}
}

func TestADeferChainIsFoundAsAChainOfItsGoroutine(t *testing.T) {
	hwtest.Need(t, hwtest.Ptrace)
	const n = 40_000
	for _, version := range toolchains {
		for _, strip := range []bool{false, true} {
			p := startShape(t, hwtest.BuildOptions{Toolchain: version, Strip: strip}, "defers", n)
			chains, err := p.analyze(t).Chains(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if len(chains) == 0 || !strings.HasPrefix(chains[0].Path, "goroutine main.defers.func1 in its descriptor") || chains[0].Length < n*9/10 ||
				chains[0].Length > n+n/100 {
				t.Errorf("%s, stripped %v: chains %+v", version, strip, chains)
			}
		}
	}
}
