package pacer

import (
	"slices"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/sample"
)

// sitesAt are sites of one stack.
func sitesAt(address uint64, sizes ...int) (list []sample.Site) {
	for _, s := range sizes {
		list = append(list, sample.Site{Stack: []sample.Location{{Address: address}, {Address: 7}}, Size: sample.Bytes(s) * sample.MiB / 4})
	}
	return list
}

func TestBuffersThatGrowAreToldFromBodiesOfManySizes(t *testing.T) {
	for _, tt := range []struct {
		name   string
		sites  []sample.Site
		counts []uint64
		want   []float64 // copied, in quarters of a MiB
	}{
		{"twice as large each time", sitesAt(1, 4, 8, 16, 32), []uint64{6, 6, 6, 5}, []float64{0, 4, 8, 16}},
		{"by a quarter, in no order", sitesAt(1, 64, 40, 80, 50), []uint64{3, 5, 3, 4}, []float64{50, 0, 64, 40}},
		{"beside another stack's", append(sitesAt(1, 4, 8, 16, 32), sitesAt(2, 10)...), []uint64{6, 6, 6, 6, 90}, []float64{0, 4, 8, 16, 0}},
		{"some of the least were not sampled", sitesAt(1, 4, 8, 16, 32), []uint64{5, 7, 7, 7}, []float64{0, 4, 8, 16}},
		{"bodies of many sizes", sitesAt(1, 20, 21, 23, 24, 30, 31), []uint64{2, 1, 1, 3, 1, 1}, make([]float64, 6)},
		{"the larger more often", sitesAt(1, 4, 8, 16, 32), []uint64{2, 4, 9, 3}, make([]float64, 4)},
		{"a few sizes", sitesAt(1, 4, 8, 16), []uint64{6, 6, 6}, make([]float64, 3)},
		{"steps too far apart", sitesAt(1, 4, 8, 16, 64), []uint64{6, 6, 6, 6}, make([]float64, 4)},
		{"small ones do not count", sitesAt(1, 1, 2, 4, 8), []uint64{6, 6, 6, 6}, make([]float64, 4)},
		{"four stacks", append(append(sitesAt(1, 4), sitesAt(2, 8)...), append(sitesAt(3, 16), sitesAt(4, 32)...)...), []uint64{6, 6, 6, 6}, make([]float64, 4)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var counts []sample.BucketCounts
			for _, n := range tt.counts {
				counts = append(counts, sample.BucketCounts{NowAllocs: n})
			}
			for i, got := range copiedOf(tt.sites, counts) {
				if got *= 4 / mib; got != tt.want[i] {
					t.Errorf("into the array of %.2f MiB %.2f MiB are copied, want %.2f", float64(tt.sites[i].Size)/mib, got/4, tt.want[i]/4)
				}
			}
		})
	}
}

// uploads is a history of buffers that grow to 16 MiB beside 10 MiB that stay.
// Collections found one at rest, one that was copied, and two.
func uploads() *History {
	h := server(10 * mib)
	h.marks = nil
	for i := range 19 {
		h.marks = append(h.marks, mark{clock: float64(100*i+50) * mib, live: 10*mib + []float64{16, 24, 40}[i%3]*mib})
	}
	h.large = []large{{from: 0, to: h.end(), size: 16 * mib, bytes: h.end() / 2}}
	h.Recorded.Peak = float64(newModel(h).predict(h.Setting, nil).peak.P50)
	return h
}

func TestBuffersThatGrowAtOnceAreInTheInterval(t *testing.T) {
	was := Tune(uploads(), Options{GOGC: []int32{50}})
	h := uploads()
	h.large[0].copied = 8 * mib
	l := livenessOf(h)
	for i, w := range l.widest[1 : len(l.widest)-1] {
		// 26 MiB are the least, and the 24 MiB more of others one buffer that is copied.
		if w != 50*mib {
			t.Errorf("after mark %d up to %.1f MiB", i, w/mib)
		}
	}
	now := Tune(h, Options{GOGC: []int32{50}})
	if len(was.Settings) < 2 || len(now.Settings) < 2 {
		t.Fatalf("refused: %q, %q", was.Why, now.Why)
	}
	a, b := was.Settings[1].PeakHeap, now.Settings[1].PeakHeap
	if a.P5 != b.P5 || a.P50 != b.P50 {
		t.Errorf("the middle and the lower end moved from %v to %v", a, b)
	}
	if b.P95 < a.P95 {
		t.Errorf("the upper end fell from %d to %d", a.P95, b.P95)
	}
}

// TestWhatNoCollectionFoundIsSaid: of two buffers at a time no collection found more
// than one being copied and one that had just begun.
func TestWhatNoCollectionFoundIsSaid(t *testing.T) {
	h := uploads()
	for i := range h.marks {
		h.marks[i].live = []float64{2, 20, 30}[i%3] * mib
	}
	h.Recorded.Peak = float64(newModel(h).predict(h.Setting, nil).peak.P50)
	was := Tune(h, Options{GOGC: []int32{50}})
	h.large[0].copied = 8 * mib
	now := Tune(h, Options{GOGC: []int32{50}})
	if len(was.Settings) < 2 || len(now.Settings) < 2 {
		t.Fatalf("refused: %q, %q", was.Why, now.Why)
	}
	// 28 MiB more than the least are two buffers: 2 + 2*24 MiB may be live, and the goal is half as much again.
	if p := now.Settings[1].PeakHeap.P95; p < 72*sample.MiB {
		t.Errorf("up to %d MiB, before %d", p>>20, was.Settings[1].PeakHeap.P95>>20)
	}
	if said := strings.Join(now.Why, "; "); !strings.Contains(said, "where all are copied at once about 50.0 MiB") || now.Grade == High {
		t.Errorf("%s: %s", now.Grade, said)
	}
	if said := strings.Join(was.Why, "; "); strings.Contains(said, "copied") {
		t.Errorf("without a buffer that grows it says: %s", said)
	}
}

// TestOnlyBuffersThatAreLikelyInAStretchCount: profiles lie far apart, and one large
// buffer among many may have been anywhere between two.
func TestOnlyBuffersThatAreLikelyInAStretchCount(t *testing.T) {
	list := []large{
		{from: 0, to: 1000, size: 40, bytes: 3 * 40, copied: 20},
		{from: 0, to: 500, size: 16, bytes: 10 * 16, copied: 8},
		{from: 500, to: 1000, size: 16, bytes: 20 * 16, copied: 8},
		{from: 0, to: 1000, size: 30, bytes: 900}, // grows from nothing
	}
	for _, tt := range []struct {
		name     string
		from, to float64
		want     []float64
	}{
		{"a short one", 100, 200, []float64{24, 24}},
		{"over two profiles", 450, 550, []float64{24, 24, 24}},
		{"long enough for a large one", 0, 300, []float64{60, 24, 24, 24, 24, 24, 24}},
		{"beyond what is known", 1000, 1100, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := widthsIn(list, tt.from, tt.to); !slices.Equal(got, tt.want) {
				t.Errorf("%v, want %v", got, tt.want)
			}
		})
	}
}

// TestWhatBuffersAtRestHoldIsNotCountedTwice: the least that a mark found may be such
// buffers themselves.
func TestWhatBuffersAtRestHoldIsNotCountedTwice(t *testing.T) {
	h := uploads()
	h.large[0].copied = 8 * mib
	alone := livenessOf(h).widest[5]
	h.growing = []at{{0, 16 * mib}}
	if got := livenessOf(h).widest[5]; alone != 50*mib || got != 58*mib { // 26 and a buffer; 10 and two
		t.Errorf("%.0f MiB, and %.0f MiB where 16 MiB of the least are buffers; want 50 and 58", alone/mib, got/mib)
	}
}
