package watch

import (
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

func TestALookThatHadNoTimeLeftIsTakenAgain(t *testing.T) {
	of := func(found sample.Bytes, unread int, took time.Duration) *sample.Files {
		f := &sample.Files{Unread: unread, Took: took}
		if found > 0 {
			f.List = []sample.FilePages{{Path: "/data/a", Kind: sample.FileCache, Resident: found}}
		}
		return f
	}
	const memory = 50 * sample.MiB
	for name, c := range map[string]struct {
		f     *sample.Files
		again bool
	}{
		"nothing was found":                      {of(0, 1, time.Millisecond), true},
		"the executable alone, in all the time":  {of(sample.MiB, 1, filesLive), true},
		"most of it":                             {of(40*sample.MiB, 1, filesLive), false},
		"little, soon: the rest may not be read": {of(sample.MiB, 7, filesLive/10), false},
		"little, and all was looked at":          {of(sample.MiB, 0, filesLive), false},
	} {
		if got := isCutShort(c.f, memory); got != c.again {
			t.Errorf("%s: again %v", name, got)
		}
	}
}
