package incontainer_test

import (
	"slices"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
)

// lack is one thing that a container can lack.
type lack struct {
	name    string
	options []string
}

// noNewCalls is what an old sandbox says of calls that it does not know.
const noNewCalls = `{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["clone3", "pidfd_open", "pidfd_send_signal", "pidfd_getfd", "openat2", "close_range", "faccessat2", "statx", "memfd_create",
	"userfaultfd", "perf_event_open", "bpf", "kcmp", "inotify_init1", "sched_setattr", "landlock_create_ruleset", "io_uring_setup", "process_madvise", "copy_file_range", "fallocate", "ioprio_set"], "action": "SCMP_ACT_ERRNO", "errnoRet": 38}]}`

func lacks(t *testing.T) []lack {
	return []lack{
		{"a root to write to", []string{"--read-only", "--read-only-tmpfs=false"}},
		{"rights and a home", []string{"--user=65534:65534", "--cap-drop=all", "--security-opt=no-new-privileges", "--env=HOME="}},
		{"ptrace", []string{withoutPtrace(t)}},
		{"calls of newer kernels", []string{seccomp(t, noNewCalls)}},
		{"files of any size", []string{"--ulimit=fsize=0:0"}},
		{"room on /tmp", []string{"--tmpfs=/tmp:size=100k"}},
		{"room in /dev/shm", []string{"--tmpfs=/dev/shm:size=100k"}},
		{"/proc/sys", []string{"--security-opt=mask=/proc/sys"}},
		{"a cgroup mount", []string{"--tmpfs=/sys/fs/cgroup"}},
		{"memory to spare", []string{"--memory=32m"}},
		{"memory that a process may map", []string{"--ulimit=data=100663296"}},
		{"descriptors", []string{"--ulimit=nofile=24:24"}},
		{"processes and threads", []string{"--pids-limit=20"}},
	}
}

// Pairs fail in ways that single things do not: what one lack falls back to, the other takes away.
func TestAServiceStartsWhateverTwoThingsItsContainerLacks(t *testing.T) {
	setup(t)
	all := lacks(t)
	// In make test each lack is in one pair; the others are left to make matrix.
	for i, a := range all {
		for j, b := range all[i+1:] {
			if !hwtest.InMatrix() && (j != 0 || i%2 != 0) {
				continue
			}
			t.Run(a.name+" and "+b.name, func(t *testing.T) {
				t.Parallel()
				served(t, slices.Concat(a.options, b.options), nil)
			})
		}
	}
	t.Run("all of them", func(t *testing.T) {
		t.Parallel()
		var options []string
		for _, l := range all {
			options = append(options, l.options...)
		}
		served(t, options, []string{"--limit", "32MiB", "-o", "/none/r"})
	})
}
