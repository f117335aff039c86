package heapgraph

import (
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/hwtest"
	"github.com/highwater-go/highwater/internal/sample"
)

func TestWhatIsYoungerThanTheLastCollectionIsTold(t *testing.T) {
	hwtest.Need(t, hwtest.Ptrace)
	const object = 32 + 112 // a record of 32 bytes and its body, in their slots
	want := map[string]struct{ retained, young sample.Bytes }{
		"main.old":         {2*3000*object - 2000*112, 0},
		"main.mixed":       {2 * 3000 * object, 3000 * object},
		"main.fresh":       {2 * 3000 * object, 2 * 3000 * object},
		"main.oldLarge":    {64 << 10, 0},
		"main.freshLarge":  {64 << 10, 64 << 10},
		"main.oldHeader":   {300 * 896, 0},
		"main.freshHeader": {300 * 896, 300 * 896},
	}
	for _, version := range toolchains {
		t.Run(version, func(t *testing.T) {
			a := startShapes(t, hwtest.BuildOptions{Toolchain: version}, "ages", "off").analyze(t)
			c, err := a.Summarize(t.Context(), Sites{})
			if err != nil {
				t.Fatal(err)
			}
			// Variables of so many bytes have no path of their own, but their elements.
			got := make(map[string]struct{ retained, young sample.Bytes })
			for i := range c.Paths {
				if p := &c.Paths[i]; p.Parent < 0 {
					name, _, _ := strings.Cut(c.Path(i), "[")
					sum := got[name]
					got[name] = struct{ retained, young sample.Bytes }{sum.retained + p.Retained, sum.young + p.Young}
				}
			}
			for name, w := range want {
				if got[name] != w {
					t.Errorf("%s retains %+v, not %+v", name, got[name], w)
				}
			}
		})
	}
}
