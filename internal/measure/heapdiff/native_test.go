package heapdiff

import (
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

func TestLiveNativeBytesAreAProfileOfWhatIsInUse(t *testing.T) {
	c := sample.Location{Address: 0x1200, Frames: []sample.Frame{{Func: "malloc", File: "libc.so.6"}}}
	line := sample.Location{Address: 0x4600, Frames: []sample.Frame{{Func: "main.fill", File: "/src/main.go", Line: 40}}}
	p := NativeToPprof([]sample.NativeLive{
		{Where: []sample.Location{c, line}, Samples: 3, Objects: 300, Bytes: 3 << 16},
		{Where: []sample.Location{c}}, // all of it was freed
	}, time.Unix(1, 0), 64<<10, sample.Program{})
	if err := p.CheckValid(); err != nil {
		t.Fatal(err)
	}
	if len(p.Sample) != 1 || p.Sample[0].Value[0] != 300 || p.Sample[0].Value[1] != 3<<16 || len(p.Sample[0].Location) != 2 {
		t.Errorf("%v", p)
	}
	if p.SampleType[0].Type != "inuse_objects" || p.SampleType[1].Type != "inuse_space" || p.Period != 64<<10 {
		t.Errorf("%v", p)
	}
}
