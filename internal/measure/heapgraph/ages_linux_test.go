package heapgraph

import (
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/words/sample"
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
			c, err := a.Summarize(t.Context(), Sites{}, nil)
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

func TestTypesThatObjectsDoNotCarryAreMarkedAsInferred(t *testing.T) {
	hwtest.Need(t, hwtest.Ptrace)
	for _, version := range toolchains {
		t.Run(version, func(t *testing.T) {
			for _, c := range []struct {
				program, typ string
				carried      bool
			}{
				{"ages", "[100]*main.record", true}, // by their headers, since Go 1.22
				{"ages", "main.record", false},
				{"copies", "string", true}, // by the interfaces that hold them
				{"copies", "string contents", false},
			} {
				if version == "go1.20.14" && strings.HasPrefix(c.typ, "[") {
					continue
				}
				bytes := uint64(0)
				for _, u := range startShapes(t, hwtest.BuildOptions{Toolchain: version}, c.program, "off").analyze(t).TypesByBytes() {
					if u.Type != c.typ {
						continue
					}
					bytes += u.Bytes
					// An error's text may lie in an interface, and little else that the runtime has.
					if c.carried && u.Inferred*50 > u.Bytes || !c.carried && u.Inferred*100 < u.Bytes*98 {
						t.Errorf("of %d bytes of %s %d are inferred", u.Bytes, u.Type, u.Inferred)
					}
				}
				if bytes == 0 {
					t.Errorf("%s has no objects of type %s", c.program, c.typ)
				}
			}
		})
	}
}
