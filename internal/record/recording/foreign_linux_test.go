package recording

import (
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestARecordingThatHoldsAProgramIsRefused(t *testing.T) {
	for name, sql := range map[string]string{
		"a view":              "ALTER TABLE meta RENAME TO m0; CREATE VIEW meta AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT x AS key, x AS value FROM c",
		"a view of its own":   "CREATE VIEW v AS SELECT hex(zeroblob(400000000))",
		"a generated column":  "ALTER TABLE frame RENAME TO f0; CREATE TABLE frame (id INTEGER PRIMARY KEY, hash BLOB, function TEXT GENERATED ALWAYS AS (hex(zeroblob(400000000))), file TEXT, line INTEGER, start_line INTEGER)",
		"an added column":     "ALTER TABLE frame ADD COLUMN more TEXT GENERATED ALWAYS AS (hex(zeroblob(400000000)))",
		"a trigger":           "CREATE TRIGGER t AFTER INSERT ON meta BEGIN DELETE FROM sample; END",
		"a virtual table":     "CREATE VIRTUAL TABLE v USING rtree(id, a, b)",
		"an index":            "CREATE INDEX i ON sample (at)",
		"an expression index": "CREATE INDEX i ON frame (hex(function))",
		"a default":           "ALTER TABLE gap ADD COLUMN more TEXT DEFAULT 'x'",
		"a table":             "CREATE TABLE more (id INTEGER PRIMARY KEY)",
		"a column less":       "ALTER TABLE event DROP COLUMN text",
		"statistics":          "ANALYZE",
	} {
		w, path := create(t, meta)
		story(t, w, 5)
		must(t, w.Close())
		whole := snapshot(t, path)
		change(t, path, sql)
		var foreign ErrForeign
		if r, err := Open(path); !errors.As(err, &foreign) {
			t.Errorf("%s: %v, %v", name, r, err)
		}
		whole()
	}
}

// A newer minor version may have more, but nothing that runs.
func TestANewerMinorVersionMayHoldMoreTablesAndNoProgram(t *testing.T) {
	w, path := create(t, meta)
	story(t, w, 5)
	must(t, w.Close())
	defer snapshot(t, path)()
	change(t, path,
		"CREATE TABLE more (id INTEGER PRIMARY KEY, at INTEGER, process INTEGER REFERENCES process); ALTER TABLE gap ADD COLUMN more TEXT; PRAGMA user_version = 1999")
	if s := retell(t, open(t, path)); len(s.points) != 5 {
		t.Errorf("%d points", len(s.points))
	}
	change(t, path, "CREATE VIEW v AS SELECT 1")
	var foreign ErrForeign
	if _, err := Open(path); !errors.As(err, &foreign) || !strings.Contains(err.Error(), `view "v"`) {
		t.Error(err)
	}
}

func TestAHugeRowNumberIsDamageAndNotCountedUpTo(t *testing.T) {
	for _, table := range []string{"sample", "process_sample", "gc_cycle", "heap_profile"} {
		for _, id := range []string{"4611686018427387904", "9223372036854775807"} {
			w, path := create(t, meta)
			story(t, w, 100)
			must(t, w.Close())
			whole := snapshot(t, path)
			change(t, path, "PRAGMA foreign_keys = OFF; UPDATE "+table+" SET id = "+id+" WHERE id = (SELECT max(id) FROM "+table+")")
			r := open(t, path)
			for _, most := range []int64{3, 1 << 40} {
				_, a := r.SamplesAbout(most, ColUsage)
				_, b := r.ProcessSamplesAbout(most, server, ColResident)
				_, c := r.CyclesAbout(most, server)
				_, d := r.ProfilesAbout(most, server)
				_, e := r.SamplesBetween(start, start.Add(time.Hour), most, ColUsage)
				must(t, errors.Join(a, b, c, d, e))
			}
			if err := r.Damage(); err == nil || !strings.Contains(err.Error(), "row number "+id) {
				t.Errorf("%s %s: %v", table, id, err)
			}
			if err := Verify(path); err == nil {
				t.Errorf("%s %s: verified", table, id)
			}
			must(t, r.Close())
			whole()
		}
	}
}

func TestAPipeOrADeviceIsRefusedAndNotWaitedFor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.hwm")
	must(t, syscall.Mkfifo(path, 0o600))
	for _, name := range []string{path, "/dev/zero"} {
		if _, err := Open(name); !errors.Is(err, ErrNotRecording) {
			t.Errorf("%s: %v", name, err)
		}
	}
	w, path := create(t, meta)
	must(t, w.Close())
	must(t, syscall.Mkfifo(path+"-wal", 0o600))
	r := open(t, path)
	if r.Live() {
		t.Error("a pipe is taken for the log of a writer")
	}
}
