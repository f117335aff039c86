//go:build !linux

package cgroup

import "errors"

type fd int

const noFD fd = -1

func openFD(string) (fd, error) { return noFD, errors.ErrUnsupported }

func (f fd) read([]byte) ([]byte, error) { return nil, errors.ErrUnsupported }

func (dir fd) isLeaf() bool { return false }

func (dir fd) list(string) ([]byte, error) { return nil, errors.ErrUnsupported }

func (f fd) close() {}
