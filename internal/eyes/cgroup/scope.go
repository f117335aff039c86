package cgroup

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// Scope gives the command to put before a program's own, so that the user's
// systemd starts it in a transient scope with that limit: the way for a user
// who may not make cgroups but has a session. systemd-run registers the scope,
// then execs the program under its own pid; Find tells its cgroup then, which
// systemd removes when it is empty.
//
// Options and properties are those of systemd-run(1) and
// systemd.resource-control(5); package cli tests it with a real systemd. The error is exec.ErrNotFound where there is no systemd-run,
// and says so where the scope would leave a limit of our own: it is made below the user's slice.
func (h *Hierarchy) Scope(o Options) ([]string, error) {
	if h.Version != 2 {
		return nil, fmt.Errorf("systemd gives a user's scope a limit in cgroup version 2 only: %w", ErrNotPermitted)
	}
	path, err := exec.LookPath("systemd-run")
	if err != nil {
		return nil, err
	}
	if own, err := h.Find(os.Getpid()); err == nil {
		if err := h.outside(own, userSlice(own), o.Limit); err != nil {
			return nil, err
		}
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

// userSlice is the slice of the user whose session or service a cgroup is in, "/" where it is in none.
func userSlice(path string) string {
	for ; path != "/" && path != "."; path = filepath.Dir(path) {
		if strings.HasPrefix(filepath.Base(path), "user-") && filepath.Dir(path) == "/user.slice" {
			return path
		}
	}
	return "/"
}
