package explain

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// ChooseHeap finds the heap capture that at names, as --at does: "kill", "peak" (the
// most live bytes), "first", "last" or a time; "" is the kill's, else the peak's. The
// error is ErrNoMoment or ErrAt.
func ChooseHeap(r *recording.Reader, at string) (*sample.HeapCapture, error) {
	list, start, err := Heaps(r)
	if err != nil {
		return nil, err
	}
	i, err := HeapNamed(list, at, start)
	if err != nil {
		return nil, err
	}
	return r.Heap(list[i].ID)
}

// Heaps are the captures of a recording, and when it began.
func Heaps(r *recording.Reader) ([]recording.HeapInfo, time.Time, error) {
	list, err := r.Heaps()
	if err != nil {
		return nil, time.Time{}, err
	}
	if len(list) == 0 {
		return nil, time.Time{}, fmt.Errorf("%w: it has no heap capture", ErrNoMoment)
	}
	meta, err := r.Meta()
	return list, meta.At, err
}

// HeapNamed is the index of the capture that at names, as ChooseHeap has it. The error is ErrAt.
func HeapNamed(list []recording.HeapInfo, at string, start time.Time) (int, error) {
	kill, killed := largestHeap(list, func(h recording.HeapInfo) bool { return h.Reason == sample.HeapKill })
	peak, _ := largestHeap(list, func(recording.HeapInfo) bool { return true })
	switch at {
	case "":
		if killed {
			return kill, nil
		}
		return peak, nil
	case "kill":
		if !killed {
			return 0, atError{errors.New("no heap was captured at the end of the program")}
		}
		return kill, nil
	case "peak":
		return peak, nil
	case "first":
		return 0, nil
	case "last":
		return len(list) - 1, nil
	}
	when, err := timeOf(at, start)
	if err != nil {
		return 0, atError{err}
	}
	return nearest(list, heapAt, when), nil
}

// largestHeap is the capture with the most live bytes of those that are meant.
func largestHeap(list []recording.HeapInfo, meant func(recording.HeapInfo) bool) (best int, found bool) {
	for i, h := range list {
		if meant(h) && (!found || h.LiveBytes > list[best].LiveBytes) {
			best, found = i, true
		}
	}
	return best, found
}

func heapAt(h recording.HeapInfo) time.Time { return h.At }

// heap reads the capture of the subject's heap that is nearest to the moment: at a
// kill the one made then.
func (l *loader) heap() error {
	list, err := l.Heaps()
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(h recording.HeapInfo) bool { return h.Process != l.e.Subject })
	if len(list) == 0 {
		return nil
	}
	for _, info := range list {
		h, err := l.Heap(info.ID)
		if err != nil {
			return err
		}
		l.e.Captures = append(l.e.Captures, Captured{At: l.e.seconds(h.At), InUse: h.LiveBytes, Lines: h.Lines, Holders: capturedHolders(h),
			Channels: capturedChannels(h), Ended: h.Reason == sample.HeapExit})
	}
	list = beforeTheEnd(list)
	l.e.Heap, err = l.Heap(list[nearest(list, heapAt, l.e.Moment.At)].ID)
	return err
}

// capturedHolders are the holders of a capture of which it is known which lines allocated what they retain.
func capturedHolders(h *sample.HeapCapture) (list []CapturedHolder) {
	for i := range h.Paths {
		p := &h.Paths[i]
		if !p.Holder || len(p.Sites) == 0 {
			continue
		}
		one := CapturedHolder{Retained: p.Retained, Sites: p.Sites}
		if p.Owner != nil && p.Owner.Kind != "goroutine" {
			one.Entries, one.Name, one.Taken = p.Owner.Entries, p.Owner.Name, isTaken(p.Owner)
		}
		list = append(list, one)
	}
	return list
}

func capturedChannels(h *sample.HeapCapture) map[string]CapturedChannels {
	out := map[string]CapturedChannels{}
	for _, l := range h.Collections {
		if l.Kind == "channel" && l.Name != "" {
			out[l.Name] = CapturedChannels{out[l.Name].Count + l.Count, out[l.Name].Entries + l.Entries}
		}
	}
	return out
}

// beforeTheEnd leaves out captures at the end of a program that ended by itself, where there are
// others: main has returned then, and what it held is out of reach.
func beforeTheEnd(list []recording.HeapInfo) []recording.HeapInfo {
	living := slices.DeleteFunc(slices.Clone(list), func(h recording.HeapInfo) bool { return h.Reason == sample.HeapExit })
	if len(living) == 0 {
		return list
	}
	return living
}
