package gomem

import "github.com/highwater-go/highwater/internal/words/sample"

// Areas appends where the Go runtime has memory at all: its heap's arenas and its own tables,
// without the spans in the arenas. It is Ranges for who asks often.
func (r *Runtime) Areas(dst []sample.PageRange) ([]sample.PageRange, error) {
	if err := r.why[FeatureRanges]; err != nil {
		return dst, err
	}
	return r.tables.append(dst, r.mem)
}
