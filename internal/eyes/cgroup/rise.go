package cgroup

import "github.com/highwater-go/highwater/internal/words/sample"

// A Rise is a wish to be told when the charge comes to an amount, by the kernel: nobody
// looks meanwhile. Version 1 has it (Documentation/admin-guide/cgroup-v1/memory.rst, "Memory
// thresholds"), version 2 has nothing of the kind. The kernel compares after some hundred
// pages of a processor's were charged, so that it tells half a MiB late at most.
type Rise struct {
	At   sample.Bytes
	stop func()
}

// Close ends it.
func (r *Rise) Close() { r.stop() }
