package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// dirOnDisk is a directory whose files are page cache.
func dirOnDisk(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp(".", "files-*.tmp")
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// named checks that files name so much of a row, no more than it, and returns the first.
func named(t *testing.T, a explain.Answer, row string, least float64) explain.FileHolder {
	t.Helper()
	var of, whole sample.Bytes
	var first explain.FileHolder
	for _, f := range a.Files {
		if (f.Kind == "page cache") == (row == sample.RowPageCache) {
			if of += f.Bytes; first.Path == "" {
				first = f
			}
		}
	}
	for _, r := range a.Ledger.Rows {
		if r.Name == row {
			whole = r.Bytes
		}
	}
	if of > whole || float64(of) < least*float64(whole) || whole == 0 {
		t.Fatalf("%d of the %d bytes of %s are named: %+v", of, whole, row, a.Files)
	}
	return first
}

func TestFilesOfTmpfsAreNamed(t *testing.T) {
	hwtest.Need(t, hwtest.Root, hwtest.Cgroup, hwtest.Ptrace)
	dir, err := os.MkdirTemp("/dev/shm", "highwater-files-*")
	if err != nil {
		t.Skip("SKIP-REASON: needs a tmpfs at /dev/shm: ", err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	a := watch(t, "--limit", "62MiB", "--", testprog(t, "datafiles"), "-rest", "3s", "-mode", "tmpfs", "-dir", dir+"/frames").answer(t, "")
	f := named(t, a, sample.RowShmem, 0.8)
	if f.Path != dir+"/frames/*.tmp" || f.Count < 20 || f.Kind != "tmpfs" {
		t.Errorf("%+v", f)
	}
	if a.Verdict.Class != explain.Shmem || !strings.Contains(a.Verdict.Why[0].Text, "files, ") || !strings.Contains(a.Fixes[0].Text, "*.tmp") {
		t.Errorf("%s: %+v %+v", a.Verdict.Class, a.Verdict.Why, a.Fixes)
	}
}

func TestAFileThatIsMappedAndOneThatWasClosedAreNamed(t *testing.T) {
	hwtest.Need(t, hwtest.Root, hwtest.Cgroup, hwtest.Ptrace)
	for mode, name := range map[string]string{"mapped": "state.db", "closed": "events.log"} {
		dir := filepath.Join(dirOnDisk(t), "data")
		a := watch(t, "--limit", "128MiB", "--", testprog(t, "datafiles"), "-rest", "3s", "-mode", mode, "-dir", dir).answer(t, "")
		f := named(t, a, sample.RowPageCache, 0.8)
		if f.Path != filepath.Join(dir, name) || (f.MappedBytes > 0) != (mode == "mapped") {
			t.Errorf("%s: %+v", mode, f)
		}
	}
}

func TestTheWriteAheadLogOfSQLiteIsNamedAndWhyItGrows(t *testing.T) {
	hwtest.Need(t, hwtest.Root, hwtest.Cgroup, hwtest.Ptrace)
	dir := dirOnDisk(t)
	a := watch(t, "--limit", "40MiB", "--", hwtest.Build(t, "testdata/sqlitewal", hwtest.BuildOptions{}), dir).answer(t, "")
	f := named(t, a, sample.RowPageCache, 0.8)
	if f.Path != filepath.Join(dir, "orders.db-wal") || f.Use != "the write-ahead log of SQLite" {
		t.Errorf("%+v", f)
	}
	if a.Verdict.Class == explain.PageCache && !strings.Contains(a.Verdict.Why[len(a.Verdict.Why)-1].Text+a.Verdict.Why[0].Text+a.Fixes[0].Text, "checkpoint") {
		t.Errorf("%+v %+v", a.Verdict.Why, a.Fixes)
	}
}

func TestThreadsThatCMadeAreNamedByTheirFunction(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Root, hwtest.Cgroup, hwtest.Ptrace)
	a := watch(t, "--limit", "512MiB", "--", testprog(t, "cgothreads")).answer(t, "")
	if a.Verdict.Class != explain.Goroutines || !strings.Contains(a.Verdict.Sentence, "poolWorker (cgothreads)") ||
		!strings.Contains(a.Verdict.Sentence, "2,000") {
		t.Errorf("%s: %s", a.Verdict.Class, a.Verdict.Sentence)
	}
}
