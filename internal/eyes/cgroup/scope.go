package cgroup

import (
	"fmt"
	"os/exec"
	"strconv"
)

// Scope gives the command to put before a program's own, so that the user's
// systemd starts it in a transient scope with that limit: the way for a user
// who may not make cgroups but has a session. systemd-run registers the scope,
// then execs the program under its own pid; Find tells its cgroup then, which
// systemd removes when it is empty.
//
// Options and properties are those of systemd-run(1) and
// systemd.resource-control(5); package cli tests it with a real systemd. The error is exec.ErrNotFound where there is no systemd-run.
func (h *Hierarchy) Scope(o Options) ([]string, error) {
	if h.Version != 2 {
		return nil, fmt.Errorf("systemd gives a user's scope a limit in cgroup version 2 only: %w", ErrNotPermitted)
	}
	path, err := exec.LookPath("systemd-run")
	if err != nil {
		return nil, err
	}
	name, err := h.runName(o.Name)
	if err != nil {
		return nil, err
	}
	limit := "infinity"
	if o.Limit != 0 {
		limit = strconv.FormatUint(uint64(o.Limit), 10)
	}
	return []string{
		path, "--user", "--scope", "--quiet", "--collect", "--unit=" + name,
		"--property=MemoryAccounting=yes", "--property=MemoryMax=" + limit, "--property=MemorySwapMax=0", "--",
	}, nil
}
