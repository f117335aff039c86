package app

import (
	"context"
	"errors"
	"io/fs"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/cgroup"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/units"
)

// removeWait bounds the wait for the kernel to let the last task of a cgroup go,
// scopeWait that for systemd's answer.
const (
	removeWait = 5 * time.Second
	scopeWait  = 5 * time.Second
)

// makeGroup makes the program's own memory cgroup, and one for its load. Without --limit
// a program can be watched without one: it then stays in ours.
func (r *session) makeGroup(ctx context.Context) error {
	h, err := cgroup.Detect("/")
	if err == nil {
		r.cleanStale(h)
		o := cgroup.Options{Name: filepath.Base(r.args[0]), Limit: sample.Bytes(r.limitBytes)}
		if r.group, err = h.Create(o); err != nil && r.makeScope(ctx, h, o) {
			return nil
		}
	}
	switch {
	case err == nil:
		r.makeLoadGroup(h)
		return nil
	case r.limitBytes > 0 && r.mustStart():
		r.status.say("highwater: the limit of %s cannot be set here, and the program runs without it: %v", units.Limit(r.limitBytes), firstReason(err))
		r.limitBytes = 0
	case r.limitBytes > 0:
		return notPermitted("without --limit, run still watches the program; highwater doctor says what is missing", firstReason(err))
	}
	r.noGroup = firstReason(err)
	return nil
}

// noGroup is why there is no cgroup, without the places that were tried.
func noGroup(err error) string {
	if errors.Is(firstReason(err), fs.ErrPermission) {
		return "no permission to create a memory cgroup"
	}
	return "no memory cgroup could be created"
}

// makeLoadGroup makes a cgroup for the load, in which all is found that it starts,
// whatever session that is in. Where none can be made its process group must do.
func (r *session) makeLoadGroup(h *cgroup.Hierarchy) {
	if r.Load == "" {
		return
	}
	if g, err := h.Create(cgroup.Options{Name: "load"}); err == nil {
		r.loadGroup = g
	}
}

// makeScope lets the user's systemd make the cgroup, where it would: the program
// is then started through systemd-run, and its cgroup found once it runs.
func (r *session) makeScope(ctx context.Context, h *cgroup.Hierarchy, o cgroup.Options) (made bool) {
	if tryScope(ctx, h, o) != nil {
		return false
	}
	var err error
	if r.prefix, err = h.Scope(o); err != nil {
		return false
	}
	r.scopes = h
	return true
}

// tryScope runs true(1) in a scope like the one that is wanted.
func tryScope(ctx context.Context, h *cgroup.Hierarchy, o cgroup.Options) error {
	trial, err := h.Scope(cgroup.Options{Name: o.Name + "-trial", Limit: o.Limit})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, scopeWait)
	defer cancel()
	return exec.CommandContext(ctx, trial[0], append(trial[1:], "true")...).Run()
}

// firstReason is why the best place for a cgroup refused; doctor tells all.
func firstReason(err error) error {
	var refused *cgroup.NotPermitted
	if errors.As(err, &refused) && len(refused.Tried) > 0 {
		return refused.Tried[0]
	}
	return err
}

// cleanStale removes what a run that was killed left, and says so.
func (r *session) cleanStale(h *cgroup.Hierarchy) {
	removed, err := h.CleanStale()
	for _, path := range removed {
		r.status.say("removed the cgroup that an interrupted run left: %s", path)
	}
	if err != nil {
		r.status.say("cgroups that interrupted runs left: %v", err)
	}
}

// removeGroups removes the cgroups, the program's last: with it we leave the cgroup that
// we may have moved into.
func (r *session) removeGroups() {
	for _, g := range []*cgroup.Cgroup{r.loadGroup, r.group} {
		if g != nil {
			r.removeGroup(g)
		}
	}
}

func (r *session) removeGroup(g *cgroup.Cgroup) {
	ctx, cancel := context.WithTimeout(context.Background(), removeWait)
	defer cancel()
	if err := g.Remove(ctx); err != nil {
		r.status.say("the cgroup %s is left: %v", g.Path, err)
	}
}
