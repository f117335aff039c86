//go:build !linux

package lastbreath

import (
	"context"
	"errors"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// Tracer follows processes, on Linux only.
type Tracer struct{}

// NewTracer fails with errors.ErrUnsupported.
func NewTracer(Handler, Options) (*Tracer, error) { return nil, errors.ErrUnsupported }

// Start fails with errors.ErrUnsupported.
func (*Tracer) Start(Command) (int, error) { return 0, errors.ErrUnsupported }

// Seize fails with errors.ErrUnsupported.
func (*Tracer) Seize(sample.ProcessKey, bool) error { return errors.ErrUnsupported }

// Reseize fails with errors.ErrUnsupported.
func (*Tracer) Reseize(int) error { return errors.ErrUnsupported }

// WhileFrozen fails with errors.ErrUnsupported.
func (*Tracer) WhileFrozen(int, time.Duration, func(context.Context, *Freeze) error) (time.Duration, error) {
	return 0, errors.ErrUnsupported
}

// Stuck is never closed.
func (*Tracer) Stuck() <-chan struct{} { return nil }

// Close does nothing.
func (*Tracer) Close() error { return nil }

// OSThread is that of Tracers, on Linux only.
type OSThread struct{}

// NewOSThread gives one that does nothing.
func NewOSThread() *OSThread { return &OSThread{} }

// Retire does nothing.
func (*OSThread) Retire() {}
