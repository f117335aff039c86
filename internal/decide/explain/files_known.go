package explain

import (
	"path"
	"slices"
	"strings"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// knownFile tells what a file is for by its name, by the modules of the program that has it, or by being mapped.
type knownFile struct {
	use     string
	base    []string // patterns of its name (path.Match); none: any
	within  string   // a directory that it lies in; "": any
	modules []string // one of these is linked in; none: that does not matter
	mapped  bool     // it is mapped
}

// The most specific come first.
var knownFiles = []knownFile{
	{use: "the write-ahead log of SQLite", base: []string{"*-wal"}},
	{use: "the index of SQLite's write-ahead log", base: []string{"*-shm"}},
	{use: "a rollback journal of SQLite", base: []string{"*-journal"}},
	{use: "a value log of Badger", base: []string{"*.vlog"}},
	{use: "a memtable of Badger", base: []string{"*.mem"}, modules: []string{"github.com/dgraph-io/badger*"}},
	{use: "a table of Badger", base: []string{"*.sst"}, modules: []string{"github.com/dgraph-io/badger*"}},
	{use: "bookkeeping of Badger", base: []string{"DISCARD", "KEYREGISTRY", "MANIFEST"}, modules: []string{"github.com/dgraph-io/badger*"}},
	{use: "a table of Pebble", base: []string{"*.sst"}, modules: []string{"github.com/cockroachdb/pebble*"}},
	{use: "a table of LevelDB", base: []string{"*.ldb"}},
	{use: "a table of RocksDB", base: []string{"*.sst"}},
	{use: "a head chunk of Prometheus", base: []string{"[0-9][0-9][0-9][0-9][0-9][0-9]"}, within: "chunks_head"},
	{use: "a block of Prometheus", base: []string{"[0-9][0-9][0-9][0-9][0-9][0-9]"}, within: "chunks"},
	{use: "a block's index of Prometheus", base: []string{"index"}, modules: []string{"github.com/prometheus/prometheus"}},
	{use: "the write-ahead log of Prometheus", base: []string{"[0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9]"}, within: "wal"},
	{use: "a database of DuckDB", base: []string{"*.duckdb", "*.duckdb.wal"}},
	{use: "a database of LMDB", base: []string{"data.mdb"}},
	{use: "a database of MaxMind", base: []string{"*.mmdb"}},
	{use: "a database of bbolt", mapped: true, modules: []string{"go.etcd.io/bbolt", "github.com/boltdb/bolt", "github.com/coreos/bbolt"}},
	{use: "a database of SQLite", base: []string{"*.sqlite", "*.sqlite3"}},
}

// useOf says what a file is for, "" where that is not known.
func (c *Case) useOf(f *sample.FilePages) string {
	base := path.Base(f.Path)
	for _, k := range knownFiles {
		named := len(k.base) == 0 || slices.ContainsFunc(k.base, func(p string) bool { ok, _ := path.Match(p, base); return ok })
		if named && (!k.mapped || isData(f)) && (k.within == "" || path.Base(path.Dir(f.Path)) == k.within) && c.links(k.modules, f.Process) {
			return k.use
		}
	}
	return ""
}

// isData says of a file that it is mapped and open at the same time, as a program's text is not.
func isData(f *sample.FilePages) bool {
	return f.Mappings > 0 && f.Descriptors > 0 && !strings.Contains(path.Base(f.Path), ".so")
}

// links says whether a process, or the subject where the process is not known, has one of the modules linked in. A
// trailing * matches any rest; no modules: yes.
func (c *Case) links(modules []string, key sample.ProcessKey) bool {
	if len(modules) == 0 {
		return true
	}
	if key == (sample.ProcessKey{}) {
		key = c.Subject
	}
	p := c.program(key)
	return p != nil && p.Go != nil && slices.ContainsFunc(p.Go.Deps, func(m sample.Module) bool { return matches(modules, m.Path) })
}
