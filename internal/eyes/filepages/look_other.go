//go:build !linux

package filepages

import "errors"

// Owners is Linux's.
type Owners struct{}

// OpenOwners fails.
func OpenOwners(string) (*Owners, error) { return nil, errors.ErrUnsupported }

// Close does nothing.
func (o *Owners) Close() error { return nil }

func (w *work) look() { w.fail(errors.ErrUnsupported.Error()) }
