package watch

import (
	"strings"

	"github.com/highwater-go/highwater/internal/faultprofile"
)

// MissingForFaults is which right a profile of page faults lacks.
func MissingForFaults(root string) string {
	const sysAdmin, perfmon, bpf = 21, 38, 39
	has := capabilities(root)
	var missing []string
	for _, c := range []struct {
		bit  int
		name string
	}{{bpf, "CAP_BPF"}, {perfmon, "CAP_PERFMON"}} {
		if has>>c.bit&1 == 0 && has>>sysAdmin&1 == 0 {
			missing = append(missing, c.name)
		}
	}
	if len(missing) == 0 {
		return "forbidden here although this process has CAP_BPF and CAP_PERFMON: by seccomp, a security module or the kernel's lockdown"
	}
	return "needs root, or " + strings.Join(missing, " and ")
}

// Profiler is what samples the page faults of the programs, nil where nothing does.
func (s *Source) Profiler() *faultprofile.Profiler { return s.opts.Faults }
