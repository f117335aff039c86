package watch

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/highwater-go/highwater/internal/eyes/faultprofile"
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
	if len(missing) == 0 && has>>sysAdmin&1 == 0 && perfRestricted(root) {
		return "needs root, or CAP_SYS_ADMIN beside CAP_BPF and CAP_PERFMON: kernel.perf_event_paranoid is 3 or more, and on Debian and Ubuntu CAP_PERFMON does not suffice then"
	}
	if len(missing) == 0 {
		return "forbidden here although this process has CAP_BPF and CAP_PERFMON: by seccomp, a security module or the kernel's lockdown"
	}
	return "needs root, or " + strings.Join(missing, " and ")
}

// perfRestricted says whether perf_event_open(2) may take CAP_SYS_ADMIN: kernels of Debian and Ubuntu have
// it so where the setting is above 2, which it is by default; others know no such value.
func perfRestricted(root string) bool {
	b, err := os.ReadFile(filepath.Join(root, "sys/kernel/perf_event_paranoid"))
	level, bad := strconv.Atoi(strings.TrimSpace(string(b)))
	return err == nil && bad == nil && level > 2
}

// Profiler is what samples the page faults of the programs, nil where nothing does.
func (s *Source) Profiler() *faultprofile.Profiler { return s.opts.Faults }
