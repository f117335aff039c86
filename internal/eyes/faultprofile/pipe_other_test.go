//go:build !unix

package faultprofile

import "errors"

func makePipe(string) error { return errors.ErrUnsupported }
