package app

import (
	"fmt"

	"github.com/highwater-go/highwater/internal/eyes/container"
	"github.com/highwater-go/highwater/internal/record/watch"
	"github.com/highwater-go/highwater/internal/words/units"
)

// metaPlace is the key of the container and the pod that a program runs in.
const metaPlace = "place"

// placeOf is the container that the programs of a source are in, with its name and pod as
// far as this machine's files tell them; "" for none.
func placeOf(source *watch.Source) string {
	a, ok := source.Account()
	if !ok {
		return ""
	}
	c, ok := container.Machine{Root: "/"}.Of(a.Home)
	if !ok {
		return ""
	}
	return "container " + c.String()
}

// sayAccount says whose charge is read where the program has no cgroup of its own.
func (r *session) sayAccount() {
	if place := placeOf(r.source); place != "" {
		_ = r.writer.SetMeta(metaPlace, place) // what ends a recording is told by its next call
	}
	a, ok := r.source.Account()
	where := fmt.Sprintf("the %s's memory cgroup, which highwater is in, too", a.Kind())
	switch {
	case r.noGroup == nil:
	case !ok:
		r.status.say("%s, so the figures are what the program's pages add up to, not what the kernel counts", noGroup(r.noGroup))
	case a.Limit.OK:
		r.status.say("the memory limit is %s, that of %s", units.Limit(a.Limit.V), where)
	default:
		r.status.say("no memory limit: that is read of %s", where)
	}
}

// sharesLimit says whether the program's memory limit is ours, too. A container whose cgroup cannot be read may have one.
func (r *session) sharesLimit() bool {
	_, seen := r.source.Account()
	return r.source.SharesLimit() || firstProcess() && !seen
}
