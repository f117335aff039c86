package capture

import (
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// growing is a sink that keeps more than a Sink has to.
type growing struct {
	Sink
	growth, native int
}

func (g *growing) Growth(list []sample.ResidentGrowth) error {
	g.growth += len(list)
	return nil
}

func (g *growing) Native(_ sample.NativeReading, list []sample.NativeLive) error {
	g.native += len(list)
	return nil
}

// What only one of two sinks keeps is handed to that one.
func TestBothHandOnWhatOneOfThemKeeps(t *testing.T) {
	var plain struct{ Sink }
	for _, first := range []bool{true, false} {
		keeper := new(growing)
		both := Both(keeper, plain)
		if !first {
			both = Both(plain, keeper)
		}
		if err := both.(GrowthSink).Growth(make([]sample.ResidentGrowth, 2)); err != nil || keeper.growth != 2 {
			t.Errorf("growth: %d (%v)", keeper.growth, err)
		}
		if err := both.(NativeSink).Native(sample.NativeReading{}, make([]sample.NativeLive, 3)); err != nil || keeper.native != 3 {
			t.Errorf("native: %d (%v)", keeper.native, err)
		}
	}
}
