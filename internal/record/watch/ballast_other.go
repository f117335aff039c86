//go:build !linux

package watch

import "github.com/highwater-go/highwater/internal/words/sample"

// ballast is needed where a kernel kills for a cgroup's limit.
type ballast struct{}

func (*ballast) load(sample.Bytes)      {}
func (*ballast) take()                  {}
func (*ballast) drop() (n sample.Bytes) { return 0 }
func (*ballast) over()                  {}
func (*ballast) needed() bool           { return false }
