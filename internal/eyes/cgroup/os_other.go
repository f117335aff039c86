//go:build !linux

package cgroup

import (
	"errors"
	"time"
)

type pidFD int

func openPID(int) (pidFD, error) { return -1, errors.ErrUnsupported }

func (p pidFD) kill() error { return errors.ErrUnsupported }

func (p pidFD) awaitEnd(time.Duration) {}

func (p pidFD) close() {}

func rmdir(string) error { return errors.ErrUnsupported }

func isBusy(error) bool { return false }

func isGone(error) bool { return false }

func ours(string) bool { return false }
