package explain

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// files adds a look at the moment that found these.
func (s *scene) files(list ...sample.FilePages) {
	s.Files = append(s.Files, recording.FilesAt{At: s.Moment.At, Files: sample.Files{List: list}})
}

// partsAreTheRow checks that the parts of each row sum to it.
func partsAreTheRow(t *testing.T, a *Answer) {
	t.Helper()
	for _, r := range a.Ledger.Rows {
		var sum sample.Bytes
		for _, p := range r.Parts {
			sum += p.Bytes
		}
		if len(r.Parts) > 0 && sum != r.Bytes {
			t.Errorf("the parts of %s sum to %d of %d: %+v", r.Name, sum, r.Bytes, r.Parts)
		}
	}
}

func TestFilesNeverClaimMoreThanTheirRow(t *testing.T) {
	for _, name := range []string{"a tmpfs full of files", "a write-ahead log that is never checkpointed"} {
		a := answer(t, name)
		partsAreTheRow(t, a)
		sums := map[bool]sample.Bytes{}
		for _, h := range a.Files {
			sums[h.Kind == "page cache"] += h.Bytes
		}
		for _, r := range a.Ledger.Rows {
			if (r.Name == sample.RowPageCache && sums[true] > r.Bytes) || (r.Name == sample.RowShmem && sums[false] > r.Bytes) {
				t.Errorf("%s: files %+v, row %+v", name, sums, r)
			}
		}
	}
}

func TestFilesAlikeAreOneAndTheFixNamesThem(t *testing.T) {
	a := answer(t, "a tmpfs full of files")
	if h := a.Files[0]; h.Path != "/dev/shm/frames/*.tmp" || h.Count != 25 || h.Bytes != 225*mib || !h.Known {
		t.Errorf("%+v", h)
	}
	if h := a.Files[1]; h.Kind != "memfd" || h.PID != subject.PID {
		t.Errorf("%+v", h)
	}
	if a.Verdict.Class != Shmem || !strings.Contains(a.Fixes[0].Text, "/dev/shm/frames/*.tmp") ||
		!strings.HasPrefix(a.Verdict.Why[0].Text, "99% of the shared memory is data of /dev/shm/frames/*.tmp (25 files, 225 MiB)") {
		t.Errorf("%s: %+v %+v", a.Verdict.Class, a.Verdict.Why, a.Fixes)
	}
}

func TestAWriteAheadLogIsNamedWithWhatWaitsToBeWritten(t *testing.T) {
	a := answer(t, "a write-ahead log that is never checkpointed")
	h := a.Files[0]
	if h.Path != "/data/orders.db-wal" || h.Use != "the write-ahead log of SQLite" || h.DirtyBytes == nil || *h.DirtyBytes != 90*mib || h.Known {
		t.Errorf("%+v", h)
	}
	var said string
	for _, w := range a.Verdict.Why {
		said += w.Text + "\n"
	}
	if a.Verdict.Class != PageCache || !strings.Contains(said, "90.0 MiB of the page cache waits to be written") || !strings.Contains(said, "checkpoint") ||
		len(a.Fixes) == 0 {
		t.Errorf("%s: %s%+v", a.Verdict.Class, said, a.Fixes)
	}
}

func TestWhatTheKernelChargesComesBeforeWhatIsOnlyThere(t *testing.T) {
	s := newScene()
	s.Moment.Cgroup.Stat.PageCache = 100 * mib
	s.charge()
	s.cycles(10, 9, 10, 9, 10, 9, 10, 10, 9)
	s.files(sample.FilePages{Path: "/data/others.db", Kind: sample.FileCache, Resident: 500 * mib},
		sample.FilePages{Path: "/data/ours.db", Kind: sample.FileCache, Resident: 200 * mib, Charged: sample.Some[sample.Bytes](90 * mib), Process: subject})
	a := answerOf(t, s)
	if len(a.Files) != 2 || a.Files[0].Path != "/data/ours.db" || a.Files[0].Bytes != 90*mib || a.Files[1].Bytes != 10*mib || a.Files[1].Known {
		t.Errorf("%+v", a.Files)
	}
}

func TestTheNearestLookIsOfTheMoment(t *testing.T) {
	s := scenes["a tmpfs full of files"]()
	s.Files = append([]recording.FilesAt{{At: s.Moment.At.Add(-time.Second),
		Files: sample.Files{List: []sample.FilePages{{Path: "/dev/shm/old", Kind: sample.FileTmpfs, Resident: mib}}}}}, s.Files...)
	s.Files = append(s.Files, recording.FilesAt{At: s.Moment.At.Add(time.Millisecond)}) // found nothing
	if a := answerOf(t, s); a.Files[0].Path != "/dev/shm/frames/*.tmp" {
		t.Errorf("%+v", a.Files[0])
	}
}

// A look that had no time left found little: the one of a second before says what the memory was.
func TestALookThatWasCutShortGivesWayToTheNextBestOne(t *testing.T) {
	s := scenes["a tmpfs full of files"]()
	cut := sample.Files{List: []sample.FilePages{{Path: "/srv/shop", Kind: sample.FileCache, Resident: mib}}, Unread: 1, Why: "no time was left"}
	whole := s.Files[len(s.Files)-1]
	whole.At = s.Moment.At.Add(-time.Second)
	s.Files = []recording.FilesAt{whole, {At: s.Moment.At, Files: cut}}
	if a := answerOf(t, s); len(a.Files) == 0 || a.Files[0].Path != "/dev/shm/frames/*.tmp" {
		t.Errorf("%+v", a.Files)
	}
	whole.At = s.Moment.At.Add(-time.Minute) // of another time
	s.Files[0] = whole
	if a := answerOf(t, s); len(a.Files) > 0 && a.Files[0].Path == "/dev/shm/frames/*.tmp" {
		t.Errorf("%+v", a.Files)
	}
}

// The page cache of a database is largest when memory usage is, and not at the moment of the answer.
func TestThePageCacheOfThePeakIsNamedByALookOfThatTime(t *testing.T) {
	s := scenes["a write-ahead log that is never checkpointed"]()
	c := newCase(s.Evidence)
	i := c.fullest()
	s.Ticks.Usage[i], s.Ticks.PageCache[i] = 500*float64(mib), 400*float64(mib)
	at := s.Start.Add(time.Duration(s.Ticks.At[i] * float64(time.Second)))
	s.Moment.At = at.Add(-time.Hour)
	s.Files = []recording.FilesAt{{At: s.Moment.At, Files: sample.Files{List: []sample.FilePages{{Path: "/data/small", Kind: sample.FileCache, Resident: mib}}}},
		{At: at, Files: sample.Files{List: []sample.FilePages{{Path: "/data/large", Kind: sample.FileCache, Resident: 396 * mib}}}}}
	whys := newCase(s.Evidence).cacheWhy(400 * mib)
	if len(whys) == 0 || whys[0].Text != "99% of the page cache is data of /data/large (396 MiB)" {
		t.Errorf("%+v", whys)
	}
}

func TestFilesAreToldByTheirNamesAndModules(t *testing.T) {
	s := newScene()
	s.Programs[0].Go.Deps = []sample.Module{{Path: "go.etcd.io/bbolt"}, {Path: "github.com/dgraph-io/badger/v4"}}
	c := newCase(s.Evidence)
	for _, f := range []struct {
		file sample.FilePages
		use  string
	}{
		{sample.FilePages{Path: "/d/state.db", Mappings: 1, Descriptors: 1, Process: subject}, "a database of bbolt"},
		{sample.FilePages{Path: "/d/state.db", Descriptors: 1, Process: subject}, ""},
		{sample.FilePages{Path: "/d/000001.vlog"}, "a value log of Badger"},
		{sample.FilePages{Path: "/d/000001.sst"}, "a table of Badger"},
		{sample.FilePages{Path: "/d/01H/chunks/000001"}, "a block of Prometheus"},
		{sample.FilePages{Path: "/d/chunks_head/000001"}, "a head chunk of Prometheus"},
		{sample.FilePages{Path: "/d/wal/00000012"}, "the write-ahead log of Prometheus"},
		{sample.FilePages{Path: "/d/plain"}, ""},
	} {
		if got := c.useOf(&f.file); got != f.use {
			t.Errorf("%+v: %q, want %q", f.file, got, f.use)
		}
	}
}

func TestLibrariesOfCAreKnownByTheirFunctionsAndModules(t *testing.T) {
	for cause, function := range map[string]string{"sqlite-statement": "sqlite3_prepare_v2", "sqlite-pages": "pcache1Alloc", "sqlite-sorter": "vdbePmaReadBlob",
		"librdkafka": "(librdkafka.so.1)", "rocksdb": "_ZN7rocksdb5Arena8AllocateEm",
		"libvips": "vips_malloc", "imagemagick": "(libMagickCore-6.Q16.so.6)", "libxml2": "xmlNewNode", "zstd-context": "ZSTD_createCCtx",
		"duckdb": "_ZN6duckdb9AllocatorE"} {
		s := nativeScene()
		s.touched(230, 640, 33, function, "example.org/shop/db.Query", "/build/shop/db/db.go", 44)
		a := answerOf(t, s)
		k := newCase(s.Evidence).causeOfTouched(a.Verdict.Culprit)
		if k == nil || k.Name != cause || a.Verdict.Why[0].Text != k.Why || !strings.Contains(a.Fixes[0].Text, k.Fix) {
			t.Errorf("%s: %+v; %+v", function, k, a.Verdict.Why)
		}
	}
	s := nativeScene()
	s.Programs[0].Go.Deps = []sample.Module{{Path: "github.com/confluentinc/confluent-kafka-go/v2"}}
	a := answerOf(t, s)
	if last := a.Verdict.Why[len(a.Verdict.Why)-1]; !strings.Contains(last.Text, "not proven") || !strings.Contains(last.Text, "librdkafka") {
		t.Errorf("%+v", a.Verdict.Why)
	}
}

// Of many small memfds that are numbered the answer has the name they share, how many more there are, and what frees them.
func TestManyNumberedMemfdsAreOne(t *testing.T) {
	s := outsideScenes["a tmpfs full of files"]()
	now := &s.Files[len(s.Files)-1].Files
	now.List = nil
	for i := range 40 {
		now.List = append(now.List, sample.FilePages{Path: fmt.Sprintf("/memfd:frame-%d", 100+i), Kind: sample.FileMemfd, Deleted: true,
			Size: mib / 4, Resident: mib / 4, Charged: sample.Some(sample.Bytes(mib / 4))})
	}
	now.OtherShmem, now.OtherShmemBytes = 680, 238*mib
	c := newCase(s.Evidence)
	text := c.filesWhy(sample.RowShmem)[0].Text
	if !strings.Contains(text, "the memfd frame-* (40 files, 10.0 MiB). 680 other files, each at most as large, have 220 MiB together") {
		t.Error(text)
	}
	if fix := c.fileFix(nil); !strings.HasPrefix(fix, "close the memfd frame-* when no longer needed") {
		t.Error(fix)
	}
}
