package app

import (
	"fmt"
	"os"
	"strconv"

	"github.com/highwater-go/highwater/internal/eyes/cgroup"
	"github.com/highwater-go/highwater/internal/eyes/container"
	"github.com/highwater-go/highwater/internal/words/units"
)

// HomeCheck says whose memory limit counts for a process, and how that was found.
func HomeCheck(pid int) check {
	c := check{Name: "the memory limit that counts here", Costs: "limit, memory usage and kills of programs without a cgroup of their own"}
	if pid != os.Getpid() {
		c.Name = "the memory limit that counts for process " + strconv.Itoa(pid)
	}
	home, err := cgroup.FindHome("/", pid)
	if err != nil {
		c.Says = err.Error()
		return c
	}
	g, err := home.Open()
	if err != nil {
		c.OK, c.Says = home.Path == "/", "none: "+home.Says()
		return c
	}
	defer g.Close()
	levels, err := g.Limits()
	if err != nil {
		c.Says = err.Error()
		return c
	}
	c.OK = true
	switch tightest, ok := cgroup.Tightest(levels); {
	case !ok:
		c.Says = "none; the cgroup is " + home.Says()
	case tightest.Path == "":
		c.Says = fmt.Sprintf("%s, of a cgroup above that cannot be seen from here; the cgroup is %s", units.Limit(tightest.Limit.V), home.Says())
	case tightest.Path == home.Path:
		c.Says = fmt.Sprintf("%s, the %s's own; the cgroup is %s", units.Limit(tightest.Limit.V), container.KindOf(home.Path), home.Says())
	default:
		c.Says = fmt.Sprintf("%s, of the %s above, %s; the cgroup is %s", units.Limit(tightest.Limit.V), container.KindOf(tightest.Path), tightest.Path, home.Says())
	}
	return c
}
