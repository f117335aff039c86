package capture

import "github.com/highwater-go/highwater/internal/words/sample"

// Both is a sink that hands everything to two, the first of which is the one that counts:
// its errors are returned, those of the second are its own.
func Both(first, second Sink) Sink { return both{first, second} }

type both struct{ first, second Sink }

func (b both) each(call func(Sink) error) error {
	err := call(b.first)
	_ = call(b.second)
	return err
}

func (b both) Program(p sample.Program) error {
	return b.each(func(s Sink) error { return s.Program(p) })
}

func (b both) Sites(key sample.ProcessKey, first int, sites []sample.Site) error {
	return b.each(func(s Sink) error { return s.Sites(key, first, sites) })
}

func (b both) Point(p *sample.Point) error {
	return b.each(func(s Sink) error { return s.Point(p) })
}

func (b both) Cycle(c sample.GCCycle) error {
	return b.each(func(s Sink) error { return s.Cycle(c) })
}

func (b both) Event(e sample.Event) error {
	return b.each(func(s Sink) error { return s.Event(e) })
}

func (b both) Gap(g sample.Gap) error {
	return b.each(func(s Sink) error { return s.Gap(g) })
}

func (b both) Heap(key sample.ProcessKey, p *sample.HeapProfile) error {
	return b.each(func(s Sink) error { return s.Heap(key, p) })
}

func (b both) Moment(m *sample.Moment) error {
	return b.each(func(s Sink) error { return s.Moment(m) })
}

// Growth goes to those that keep it.
func (b both) Growth(list []sample.ResidentGrowth) error {
	return b.each(func(s Sink) error {
		if keeper, ok := s.(GrowthSink); ok {
			return keeper.Growth(list)
		}
		return nil
	})
}

// Native goes to those that keep it.
func (b both) Native(head sample.NativeReading, list []sample.NativeLive) error {
	return b.each(func(s Sink) error {
		if keeper, ok := s.(NativeSink); ok {
			return keeper.Native(head, list)
		}
		return nil
	})
}

func (b both) Flush() error { return b.each(Sink.Flush) }
