package heapgraph

import (
	"fmt"
	"maps"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
)

// What leaves a queue of linked elements from its front is counted from one capture to the next, whether it knows both its
// neighbours or one. Nothing leaves a list that is only added to, a stack loses what came last, and the pages of a cache are reached
// through its map.
func TestElementsThatLeaveAQueueAreCounted(t *testing.T) {
	hwtest.Need(t, hwtest.Ptrace)
	for _, version := range toolchains {
		t.Run(version, func(t *testing.T) {
			p := startShapes(t, hwtest.BuildOptions{Toolchain: version}, "lists", "20")
			var lists Lists
			for step := 1; step <= 3; step++ {
				a := p.analyze(t)
				now, taken := a.listsOf(lists)
				got := map[string]uint64{}
				for typ, n := range taken {
					got[a.Objects.Types.Name(typ)] = n
				}
				if step > 1 && (len(got) != 2 || !fewLess(got["list.Element"]) || !fewLess(got["main.message"])) {
					t.Errorf("step %d: %v left, of %v", step, got, lengths(now))
				}
				for _, name := range []string{"list.Element", "main.message", "main.event", "main.frame", "main.page"} {
					if len(now[name]) != 1 || now[name][0].Length != uint64(500*step) && name != "main.frame" {
						t.Errorf("step %d: lists of %s: %v", step, name, lengths(now)[name])
					}
				}
				lists = now
				fmt.Fprintln(p.cmd.In, "step")
				p.says(t)
			}
		})
	}
}

// A variable that lies behind a value without a name, of unknown size, has its own name; and what the interfaces in an array
// lead to, of which only such a variable is known, has its type.
func TestAVariableBehindAValueWithoutANameHasItsName(t *testing.T) {
	hwtest.Need(t, hwtest.Ptrace)
	a := startShapes(t, hwtest.BuildOptions{Toolchain: toolchains[len(toolchains)-1]}, "lists", "20").analyze(t)
	led := 0
	for i := range a.Objects.Roots {
		if first, end := a.Objects.Pointers(uint32(a.Objects.Count + i)); a.Objects.Roots[i].Name == "main.all" {
			led += int(end - first)
		}
	}
	got := map[string]uint64{}
	for _, u := range a.TypesByBytes() {
		got[u.Type] = u.Objects
	}
	if led != 1 || got["main.inbox"] != 1 || got["main.stack"] != 1 {
		t.Errorf("main.all leads to %d objects; of %v", led, got)
	}
}

// fewLess says whether as many were counted as left, or a few less: not every element is known again.
func fewLess(left uint64) bool { return left > 290 && left <= 300 }

func lengths(l Lists) map[string][]uint64 {
	out := make(map[string][]uint64)
	for name := range maps.Keys(l) {
		for _, one := range l[name] {
			out[name] = append(out[name], one.Length)
		}
	}
	return out
}
