// Spanwatch traces its questions to a database with OpenTelemetry, and a processor
// of its own watches the spans that are open, to tell of slow ones. A question that
// finds nothing returns before its span is ended. Repaired, that is deferred.
package main

import (
	"context"
	"errors"
	"log"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

var errNone = errors.New("no such customer")

// watchdog knows the spans that are open.
type watchdog struct {
	mu   sync.Mutex
	open map[trace.SpanID]sdktrace.ReadOnlySpan
	slow int
}

func (w *watchdog) OnStart(_ context.Context, s sdktrace.ReadWriteSpan) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open[s.SpanContext().SpanID()] = s // truth: keeps
}

func (w *watchdog) OnEnd(s sdktrace.ReadOnlySpan) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.open, s.SpanContext().SpanID())
	if s.EndTime().Sub(s.StartTime()) > time.Second {
		w.slow++
	}
}

func (w *watchdog) Shutdown(context.Context) error   { return nil }
func (w *watchdog) ForceFlush(context.Context) error { return nil }

type customers struct {
	tracer   trace.Tracer
	rows     map[int][]byte // 16 MiB
	size     int            // bytes of a statement
	repaired bool
}

func main() {
	f := frame.Parse()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(&watchdog{open: map[trace.SpanID]sdktrace.ReadOnlySpan{}}))
	c := &customers{tracer: provider.Tracer("customers"), rows: map[int][]byte{}, size: f.Unit, repaired: f.Repaired}
	for i := range 16 << 10 {
		c.rows[i*12] = frame.Touch(make([]byte, 1<<10))
	}
	f.Each(func(i int) {
		if _, err := c.find(context.Background(), i); err != nil && !errors.Is(err, errNone) {
			log.Fatal(err)
		}
	})
	f.Stay()
}

// find asks for a customer and for those that may be the same.
func (c *customers) find(ctx context.Context, number int) ([]byte, error) {
	statement := c.statement(number)
	_, span := c.tracer.Start(ctx, "find customer", trace.WithAttributes( // truth: starts
		attribute.String("db.system", "postgresql"), attribute.String("db.statement", statement)))
	if c.repaired {
		defer span.End()
	}
	row, ok := c.rows[number]
	if !ok {
		return nil, errNone // truth: forgets
	}
	span.SetAttributes(attribute.Int("db.bytes", len(row)))
	span.End()
	return row, nil
}

func (c *customers) statement(number int) string {
	var s strings.Builder
	s.Grow(c.size + 64) // truth: allocates
	s.WriteString("SELECT * FROM customers WHERE number IN (")
	for n := number; s.Len() < c.size; n++ {
		s.WriteString(strconv.Itoa(n))
		s.WriteByte(',')
	}
	s.WriteString("0)")
	return s.String()
}
