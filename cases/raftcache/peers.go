package main

import (
	"fmt"
	"strings"

	"github.com/highwater-go/highwater/cases/internal/program"
)

// peer is a member of the cluster: its name, where the others reach it and
// where clients do.
type peer struct{ id, raft, clients string }

// parsePeers reads "n1=127.0.0.1:7101=127.0.0.1:7001,n2=..." and picks the
// member that this process is.
func parsePeers(list, id string) (self peer, all []peer, err error) {
	seen := map[string]bool{}
	for item := range strings.SplitSeq(list, ",") {
		f := strings.Split(item, "=")
		if len(f) != 3 || f[0] == "" {
			return peer{}, nil, fmt.Errorf("peer %q; write id=raft-address=client-address, and commas between", item)
		}
		p := peer{f[0], f[1], f[2]}
		for _, a := range f[1:] {
			if err := program.Loopback(a); err != nil {
				return peer{}, nil, fmt.Errorf("peer %s: %w", p.id, err)
			}
		}
		for _, what := range f {
			if seen[what] {
				return peer{}, nil, fmt.Errorf("%s is given twice among the peers", what)
			}
			seen[what] = true
		}
		all = append(all, p)
		if p.id == id {
			self = p
		}
	}
	if self == (peer{}) {
		return peer{}, nil, fmt.Errorf("%s is not among the peers %s", id, list)
	}
	return self, all, nil
}
