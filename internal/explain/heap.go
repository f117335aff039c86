package explain

import (
	"fmt"

	"github.com/highwater-go/highwater/internal/recording"
	"github.com/highwater-go/highwater/internal/sample"
)

// ChooseHeap finds the heap capture that at names, as --at does: "kill", "peak" (the
// most live bytes), "last" or a time; "" is the kill's, else the peak's. The error is
// ErrAt.
func ChooseHeap(r *recording.Reader, at string) (*sample.HeapCapture, error) {
	list, err := r.Heaps()
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%w: it has no heap capture", ErrNoMoment)
	}
	best := -1
	for i, h := range list {
		if best < 0 || h.LiveBytes > list[best].LiveBytes {
			best = i
		}
	}
	kill := -1
	for i, h := range list {
		if h.Reason == sample.HeapKill && (kill < 0 || h.LiveBytes > list[kill].LiveBytes) {
			kill = i
		}
	}
	switch at {
	case "":
		if kill >= 0 {
			best = kill
		}
	case "kill":
		if best = kill; kill < 0 {
			return nil, fmt.Errorf("%w: no heap was captured at a death", ErrAt)
		}
	case "peak":
	case "last":
		best = len(list) - 1
	default:
		if best, err = heapAt(r, list, at); err != nil {
			return nil, err
		}
	}
	return r.Heap(list[best].ID)
}

// heapAt is the capture nearest to a time.
func heapAt(r *recording.Reader, list []recording.HeapInfo, at string) (int, error) {
	meta, err := r.Meta()
	if err != nil {
		return 0, err
	}
	when, err := timeOf(at, meta.At)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrAt, err)
	}
	best := 0
	for i, h := range list {
		if h.At.Sub(when).Abs() < list[best].At.Sub(when).Abs() {
			best = i
		}
	}
	return best, nil
}
