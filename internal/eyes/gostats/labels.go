package gostats

import (
	"cmp"
	"slices"

	"github.com/highwater-go/highwater/internal/eyes/gomem"
	"github.com/highwater-go/highwater/internal/words/sample"
)

const (
	maxLabels      = 32      // of one goroutine
	maxLabelLength = 256     // of a key or value; longer ones are cut
	maxLabelSets   = 1 << 14 // that are read at one time
	maxValues      = 64      // of a group; the rest is counted as one
)

// otherLabels stands for labels that were counted and not read or kept apart.
var otherLabels = label{"(others)", ""}

type label struct{ key, value string }

// labelReader reads profiler labels (runtime/pprof.SetGoroutineLabels), which
// many goroutines share.
type labelReader struct {
	inMap bool // to Go 1.23 a map[string]string, then a sorted slice of pairs
	sets  map[uint64][]label
}

// read is the labels at addr, g.labels.
func (l *labelReader) read(m gomem.Memory, addr uint64) []label {
	set, ok := l.sets[addr]
	if ok {
		return set
	}
	if len(l.sets) >= maxLabelSets {
		return []label{otherLabels}
	}
	if l.inMap {
		set = readLabelMap(m, addr)
	} else {
		set = readLabelSlice(m, addr)
	}
	l.sets[addr] = set
	return set
}

// readLabelSlice reads a []struct{key, value string}
// (internal/runtime/pprof/label.Set; to Go 1.26 runtime/pprof.LabelSet).
func readLabelSlice(m gomem.Memory, addr uint64) (set []label) {
	ptr, n, _, err := m.Slice(addr, 32, 1<<20)
	if err != nil {
		return nil
	}
	for i := range min(n, maxLabels) {
		if l, ok := readLabel(m, ptr+32*i, ptr+32*i+16); ok {
			set = append(set, l)
		}
	}
	return set
}

// readLabelMap reads a *map[string]string. Its header has the count at 0, the
// logarithm of the number of buckets at 9, the buckets at 16 and, while it
// grows, the old ones at 24; a bucket is 8 marks, of which less than 5 are empty,
// 8 keys, 8 values and the next bucket (runtime/map.go, to Go 1.23).
func readLabelMap(m gomem.Memory, addr uint64) (set []label) {
	const minTopHash, bucketSize, valuesAt, overflowAt = 5, 272, 136, 264
	h, err := m.U64(addr)
	var header [32]byte
	if err != nil || m.Read(h, header[:]) != nil || header[9] > 10 {
		return nil
	}
	arrays := []span{{gomem.Word(header[:], 16), 1 << header[9]}}
	if old := gomem.Word(header[:], 24); old != 0 {
		arrays = append(arrays, span{old, 1 << max(int(header[9])-1, 0)})
	}
	left := 1 << 11 // buckets
	for _, array := range arrays {
		for i := range array.n {
			for at := array.addr + i*bucketSize; at != 0 && left > 0; left-- {
				var bucket [bucketSize]byte
				if m.Read(at, bucket[:]) != nil {
					break
				}
				for k := range uint64(8) {
					if bucket[k] < minTopHash || len(set) >= maxLabels {
						continue
					}
					if l, ok := readLabel(m, at+8+16*k, at+valuesAt+16*k); ok {
						set = append(set, l)
					}
				}
				at = gomem.Word(bucket[:], overflowAt)
			}
		}
	}
	return set
}

func readLabel(m gomem.Memory, key, value uint64) (l label, ok bool) {
	l.key, ok = readText(m, key)
	if !ok || l.key == "" {
		return l, false
	}
	l.value, ok = readText(m, value)
	return l, ok
}

// readText reads a string of which no more than maxLabelLength bytes matter.
func readText(m gomem.Memory, addr uint64) (string, bool) {
	var header [16]byte
	if m.Read(addr, header[:]) != nil {
		return "", false
	}
	text := make([]byte, min(gomem.Word(header[:], 8), maxLabelLength))
	if m.Read(gomem.Word(header[:], 0), text) != nil && len(text) > 0 {
		return "", false
	}
	return string(text), true
}

// labelCounts counts the labels of a group's goroutines.
type labelCounts map[label]int

func (c *labelCounts) add(set []label) {
	if *c == nil {
		*c = make(labelCounts)
	}
	for _, l := range set {
		if _, ok := (*c)[l]; !ok && len(*c) >= maxValues {
			l = otherLabels
		}
		(*c)[l]++
	}
}

// sorted is the labels, the most frequent first.
func (c labelCounts) sorted() (all []sample.LabelCount) {
	for l, n := range c {
		all = append(all, sample.LabelCount{Key: l.key, Value: l.value, Count: n})
	}
	slices.SortFunc(all, func(a, b sample.LabelCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Key, b.Key), cmp.Compare(a.Value, b.Value))
	})
	return all
}
