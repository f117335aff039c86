//go:build !linux

package hwtest

import "errors"

// Ptrace needs Linux's ptrace.
func Ptrace() error { return errors.ErrUnsupported }
