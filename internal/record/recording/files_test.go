package recording

import (
	"slices"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// someFiles is a look with all there is.
func someFiles(key sample.ProcessKey) *sample.Files {
	return &sample.Files{OtherCache: 3, OtherCacheBytes: 4096, OtherShmem: 2, OtherShmemBytes: 8192, Unread: 7, Why: "no time was left", Took: 12,
		List: []sample.FilePages{
			{Path: "/home/jane/data/orders.db-wal", Kind: sample.FileCache, Size: 100, Resident: 90, Dirty: sample.Some[sample.Bytes](80),
				Writeback: sample.Some[sample.Bytes](0),
				Charged:   sample.Some[sample.Bytes](70), Mapped: 60, Process: key, Descriptors: 2, Mappings: 1},
			{Path: "/dev/shm/a\nb\x1b\xff", Kind: sample.FileTmpfs, Deleted: true, Partial: true, Resident: 5},
		}}
}

func TestFilesBehindMemoryAreReadBack(t *testing.T) {
	w, path := create(t, meta)
	want := story(t, w, 30)
	key := want.programs[0].Key
	m := *want.moments[0]
	m.Files = someFiles(key)
	must(t, w.Moment(&m))
	must(t, w.Close())
	got, err := open(t, path).Files()
	must(t, err)
	if len(got) != 1 || !got[0].At.Equal(m.At) {
		t.Fatalf("%+v", got)
	}
	equal(t, "files", &got[0].Files, m.Files)
}

func TestARecordingWithoutFilesHasNone(t *testing.T) {
	w, path := create(t, meta)
	story(t, w, 30)
	must(t, w.Close())
	if got, err := open(t, path).Files(); err != nil || got != nil {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestARedactedFileHasANumberAndWhatItIs(t *testing.T) {
	w, path := create(t, meta)
	want := story(t, w, 30)
	m := *want.moments[0]
	m.Files = someFiles(want.programs[0].Key)
	must(t, w.Moment(&m))
	must(t, w.Close())
	r, err := OpenRedacted(path)
	must(t, err)
	t.Cleanup(func() { r.Close() })
	got, err := r.Files()
	must(t, err)
	names := []string{got[0].List[0].Path, got[0].List[1].Path}
	if !slices.Equal(names, []string{"file 1.db-wal", "file 2"}) || strings.Contains(got[0].Why, "jane") {
		t.Errorf("%q", names)
	}
}
