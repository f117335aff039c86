//go:build !linux

package cgroup

import (
	"errors"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// OnRise is Linux's alone.
func (c *Cgroup) OnRise(sample.Bytes, func()) (*Rise, error) { return nil, errors.ErrUnsupported }
