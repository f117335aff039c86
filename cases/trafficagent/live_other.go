//go:build !linux

package main

import (
	"context"
	"errors"
	"fmt"
)

func openInterface(_ context.Context, name string, _ uint16) (packets, error) {
	return nil, fmt.Errorf("capture on %s: %w; read a pcap file with -read", name, errors.ErrUnsupported)
}
