package pull

import (
	"bytes"
	"compress/gzip"
	"errors"
	"runtime"
	"testing"

	"github.com/google/pprof/profile"
)

// packed is bytes as gzip has them.
func packed(t *testing.T, b []byte) *bytes.Reader {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return bytes.NewReader(out.Bytes())
}

func TestAProfileThatUnpacksToFarMoreThanItIsIsRefused(t *testing.T) {
	for what, bomb := range map[string][]byte{
		"samples":               bytes.Repeat([]byte{0x12, 0}, 8<<20),
		"labels":                bytes.Repeat([]byte{0x12, 0x10, 0x1a, 0, 0x1a, 0, 0x1a, 0, 0x1a, 0, 0x1a, 0, 0x1a, 0, 0x1a, 0, 0x1a, 0}, 1<<20),
		"locations by the byte": append([]byte{0x12, 0x82, 0x80, 0x80, 0x18, 0x0a, 0xfe, 0xff, 0xff, 0x17}, bytes.Repeat([]byte{1}, 48<<20)...),
		"locations":             bytes.Repeat([]byte{0x22, 0}, 8<<20),
		"functions":             bytes.Repeat([]byte{0x2a, 0}, 8<<20),
		"mappings":              bytes.Repeat([]byte{0x1a, 0}, 8<<20),
		"lines of a location":   append([]byte{0x22, 0x80, 0x80, 0x80, 0x18}, bytes.Repeat([]byte{0x22, 0}, 24<<20)...),
		"strings":               bytes.Repeat([]byte{0x32, 0}, 30<<20),
	} {
		if _, err := parse(bomb); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: %d MiB of memory, %v", what, memoryOf(bomb)>>20, err)
		}
	}
	r := packed(t, make([]byte, maxProfile+1))
	if _, err := ReadProfile(r); !errors.Is(err, ErrTooLarge) || r.Size() > 1<<20 {
		t.Errorf("%d bytes: %v", r.Size(), err)
	}
}

func TestWhatAProfileTakesDecodedIsFoundBeforeItIs(t *testing.T) {
	written, _ := own(t)
	p, err := profile.ParseData(written)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := p.WriteUncompressed(&b); err != nil {
		t.Fatal(err)
	}
	data := b.Bytes()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	p, err = profile.ParseData(data)
	runtime.GC()
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	taken, said := int(after.HeapAlloc)-int(before.HeapAlloc), memoryOf(data)
	runtime.KeepAlive(p)
	if said < taken*2/3 || said > taken*4+64<<10 {
		t.Errorf("%d bytes of profile take %d, said to be %d", len(data), taken, said)
	}
}
