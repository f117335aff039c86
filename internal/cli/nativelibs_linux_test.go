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

// Well-known libraries of C in programs that are killed for what these allocate: the line is the one that a maintainer
// would name, and the fix is the library's own setting.
func TestLibrariesOfCAreNamedByTheLineThatCallsThem(t *testing.T) {
	hwtest.LeftToMatrix(t, "builds SQLite, zstd and librdkafka")
	hwtest.Need(t, hwtest.Root, hwtest.Cgroup, hwtest.Ptrace, samplesFaults)
	for _, c := range []struct {
		program, mode, limit, place, c, fix string
		share                               sample.Bytes // percent of the native memory at the line, at least
		header                              string       // of a library that is Debian's
	}{
		{"sqlite", "statements", "48MiB", "statements", "sqlite3_prepare_v2", "close the statement", 90, ""},
		{"sqlite", "memory", "64MiB", "memory", "sqlite3_step", "no :memory:", 90, ""},
		{"sqlite", "cache", "64MiB", "cache", "sqlite3_step", "a smaller cache_size", 90, ""},
		{"kafka", "", "80MiB", "produce", "do_produce", "queue.buffering.max.kbytes", 90, ""},
		// The blocks that an iterator reads are at the line that moves it.
		{"rocksdb", "", "96MiB", "iterator", "rocksdb_create_iterator", "close every iterator", 65, "rocksdb/c.h"},
		{"xml", "", "64MiB", "parse", "xmlReadMemory", "call Free on every document", 90, "libxml2/libxml/tree.h"},
		{"zstd", "", "96MiB", "write", "ZSTD_compressStream2", "close or release every writer", 90, ""},
		{"duckdb", "", "192MiB", "insert", "duckdb::", "set memory_limit", 80, ""},
	} {
		t.Run(strings.TrimSpace(c.program+" "+c.mode), func(t *testing.T) {
			if c.header != "" {
				hwtest.Need(t, func() error { _, err := os.Stat("/usr/include/" + c.header); return err })
			}
			program := hwtest.Build(t, "testdata/nativelibs/"+c.program, hwtest.BuildOptions{CGO: true})
			a := watch(t, "--limit", c.limit, "--", program, c.mode, dirOnDisk(t)).answer(t, "")
			closes(t, a)
			v := a.Verdict
			// With 150 samples their sum is within a tenth of the row in four of five runs: the confidence is high then.
			if v.Class != explain.Native || v.Confidence == explain.Low || v.Culprit == nil || v.Culprit.Line != placesOf(t, program)[c.place] {
				t.Errorf("%s, %s, at %+v, want line %d", v.Class, v.Confidence, v.Culprit, placesOf(t, program)[c.place])
			}
			if a.Resident == nil || len(a.Resident.Lines) == 0 || !strings.Contains(strings.Join(a.Resident.Lines[0].Native, " "), c.c) ||
				a.Resident.Lines[0].Bytes*100 < a.Resident.TotalBytes*c.share {
				t.Errorf("C's functions and the share: %+v", a.Resident)
			}
			if len(a.Fixes) == 0 || !strings.Contains(a.Fixes[0].Text, c.fix) {
				t.Errorf("fixes %+v", a.Fixes)
			}
		})
	}
}

// Databases whose files are hundreds of MiB of page cache under a limit: by name, and what they are.
func TestDatabasesAreNamedBehindThePageCache(t *testing.T) {
	hwtest.LeftToMatrix(t, "writes a GiB")
	hwtest.Need(t, hwtest.Root, hwtest.Cgroup, hwtest.Ptrace)
	for _, c := range []struct {
		program, more, limit, name, use string
		least                           sample.Bytes
	}{
		{"sqlitewal", "250", "320MiB", "orders.db-wal", "the write-ahead log of SQLite", 240 * sample.MiB},
		{"nativelibs/bbolt", "", "340MiB", "state.bolt", "a database of bbolt", 290 * sample.MiB},
		{"nativelibs/badger", "", "300MiB", "000001.vlog", "a value log of Badger", 100 * sample.MiB},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := dirOnDisk(t)
			s := watch(t, "--limit", c.limit, "--", hwtest.Build(t, "testdata/"+c.program, hwtest.BuildOptions{}), dir, c.more)
			f := named(t, s.answer(t, "last"), sample.RowPageCache, 0.9)
			if f.Path != filepath.Join(dir, c.name) || f.Use != c.use || f.Bytes < c.least {
				t.Errorf("%+v", f)
			}
		})
	}
}
