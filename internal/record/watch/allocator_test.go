package watch

import (
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// C code that fills memory and frees it again moves what malloc says without moving what is resident.
func TestMallocIsLookedAtOnceMoreAfterItMoved(t *testing.T) {
	var a allocator
	look := func(native sample.Bytes) bool {
		due := a.isDue(native)
		if due {
			a.lookedAt(native)
		}
		return due
	}
	for i, step := range []struct {
		native sample.Bytes
		due    bool
	}{
		{140 * sample.MiB, true}, {140 * sample.MiB, true}, {141 * sample.MiB, false},
		{190 * sample.MiB, true}, {190 * sample.MiB, true}, {190 * sample.MiB, false},
	} {
		if look(step.native) != step.due {
			t.Errorf("look %d at %v: due %v", i, step.native, !step.due)
		}
	}
}

func TestMallocOfAProgramWithLittleNativeMemoryIsLookedAtOnce(t *testing.T) {
	var a allocator
	if a.lookedAt(2 * sample.MiB); a.isDue(2 * sample.MiB) {
		t.Error("it is looked at again")
	}
}
