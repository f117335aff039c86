// Spanevents takes orders from a queue and traces what it does with OpenTelemetry. It has one
// span for as long as it runs, so that its work is seen as one line, and adds an event for each
// order; since important ones were missing in the traces, the limits of a span were lifted.
// The span is never ended. Repaired, each 150 orders are a span.
package main

import (
	"context"
	"fmt"
	"log"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

// exporter is what sends spans away.
type exporter struct{ events atomic.Int64 }

func (e *exporter) ExportSpans(_ context.Context, spans []sdktrace.ReadOnlySpan) error {
	for _, s := range spans {
		e.events.Add(int64(len(s.Events())))
	}
	return nil
}

func (e *exporter) Shutdown(context.Context) error { return nil }

type consumer struct {
	tracer   trace.Tracer
	span     trace.Span
	perSpan  int // orders; 0: one span for all
	articles []article
	taken    int
}

// article is one of 16 MiB of them.
type article struct {
	name   string
	stock  [30]int32
	orders int
}

func newConsumer(tracer trace.Tracer, perSpan int) *consumer {
	c := &consumer{tracer: tracer, perSpan: perSpan, articles: make([]article, 115_000)}
	for i := range c.articles {
		c.articles[i].name = fmt.Sprintf("article %d", i)
		for n := range c.articles[i].stock {
			c.articles[i].stock[n] = int32(i + n)
		}
	}
	c.begin()
	return c
}

func (c *consumer) begin() {
	_, c.span = c.tracer.Start(context.Background(), "consume orders", trace.WithNewRoot())
}

// fetch gives the order as it came.
func fetch(i, size int) []byte {
	text := frame.Touch(make([]byte, size))
	copy(text, fmt.Sprintf("order %d: ", i))
	return text
}

func (c *consumer) take(i int, order []byte) {
	a := &c.articles[i*31%len(c.articles)]
	a.orders++
	a.stock[i%len(a.stock)]--
	c.span.AddEvent("order taken", trace.WithAttributes( // truth: keeps
		attribute.Int("order", i),
		attribute.String("article", a.name),
		attribute.String("text", string(order)), // truth: allocates
	))
	if c.taken++; c.perSpan > 0 && c.taken%c.perSpan == 0 {
		c.span.End()
		c.begin()
	}
}

func main() {
	f := frame.Parse()
	sent := &exporter{}
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithSyncer(sent),
		sdktrace.WithRawSpanLimits(sdktrace.SpanLimits{ // truth: lifts
			AttributeValueLengthLimit: -1, AttributeCountLimit: -1, EventCountLimit: -1,
			LinkCountLimit: -1, AttributePerEventCountLimit: -1, AttributePerLinkCountLimit: -1,
		}))
	perSpan := 0
	if f.Repaired {
		perSpan = 150
	}
	c := newConsumer(provider.Tracer("orders"), perSpan)
	f.Each(func(i int) { c.take(i, fetch(i, f.Unit)) })
	f.Stay()
	log.Printf("%d orders, %d events sent", c.taken, sent.events.Load())
}
