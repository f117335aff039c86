//go:build !linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
)

func openInterface(_ context.Context, name string, _ uint16) (packets, io.Closer, error) {
	return nil, nil, fmt.Errorf("capture on %s: %w; read a pcap file with -read", name, errors.ErrUnsupported)
}
