package recording

import (
	"database/sql/driver"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// filesSchema are the tables that only a recording has in which files behind page cache and tmpfs were looked
// for: since version 1.8.
const filesSchema = `CREATE TABLE IF NOT EXISTS file_look (
  id INTEGER PRIMARY KEY,
  at INTEGER, moment INTEGER REFERENCES moment, files INTEGER,
  other_cache INTEGER, other_cache_bytes INTEGER, other_shmem INTEGER, other_shmem_bytes INTEGER,
  unread INTEGER, why_unread TEXT, took INTEGER
);
CREATE TABLE IF NOT EXISTS file_pages (
  id INTEGER PRIMARY KEY,
  look INTEGER REFERENCES file_look, path TEXT, kind TEXT, deleted INTEGER, size INTEGER, resident INTEGER, partial INTEGER,
  dirty INTEGER, writeback INTEGER, charged INTEGER, mapped INTEGER, process INTEGER REFERENCES process, descriptors INTEGER, mappings INTEGER
)`

var (
	tableFileLook  = table{"file_look", words(`at moment files other_cache other_cache_bytes other_shmem other_shmem_bytes unread why_unread took`)}
	tableFilePages = table{"file_pages", words(`look path kind deleted size resident partial dirty writeback charged mapped process descriptors mappings`)}
	filesTables    = []table{tableFileLook, tableFilePages}
)

// addFiles records what was found of files at a moment.
func (w *Writer) addFiles(moment int64, at time.Time, f *sample.Files) error {
	if f == nil {
		return nil
	}
	if w.rows[tableFileLook.name] == 0 {
		if err := w.db.exec(filesSchema); err != nil {
			return err
		}
	}
	look, err := w.add(&tableFileLook, w.when(at), moment, int64(len(f.List)), int64(f.OtherCache), int64(f.OtherCacheBytes),
		int64(f.OtherShmem), int64(f.OtherShmemBytes), int64(f.Unread), text(f.Why), int64(f.Took))
	for i := 0; i < len(f.List) && err == nil; i++ {
		err = w.addFile(look, &f.List[i])
	}
	return err
}

func (w *Writer) addFile(look int64, f *sample.FilePages) error {
	process, err := w.processRef(f.Process)
	if err != nil {
		return err
	}
	_, err = w.add(&tableFilePages, look, f.Path, string(f.Kind), flag(f.Deleted), int64(f.Size), int64(f.Resident), flag(f.Partial),
		optional(f.Dirty), optional(f.Writeback), optional(f.Charged), int64(f.Mapped), process, int64(f.Descriptors), int64(f.Mappings))
	return err
}

// FilesAt is what was found of files at a time.
type FilesAt struct {
	At time.Time
	sample.Files
}

// Files are the looks at files, by time. A recording without any has none.
func (r *Reader) Files() (list []FilesAt, err error) {
	if has, err := r.hasTable(tableFileLook.name); !has || err != nil {
		return nil, err
	}
	index := map[int64]int{}
	err = r.rows(func(row []driver.Value) error {
		n := func(i int) int { return int(max(0, integer(row[i]))) }
		f := sample.Files{OtherCache: n(4), OtherCacheBytes: sample.Bytes(n(5)), OtherShmem: n(6), OtherShmemBytes: sample.Bytes(n(7)),
			Unread: n(8), Why: str(row[9]), Took: time.Duration(integer(row[10]))}
		if r.redactor != nil {
			f.Why = r.redactor.reason(f.Why)
		}
		index[integer(row[0])] = len(list)
		list = append(list, FilesAt{instantOf(row[1]), f})
		return nil
	}, r.sel(&tableFileLook)+" ORDER BY id")
	if err != nil {
		return nil, err
	}
	if has, err := r.hasTable(tableFilePages.name); !has || err != nil {
		return list, err
	}
	err = r.rows(func(row []driver.Value) error {
		i, known := index[integer(row[1])]
		if !known || len(list[i].List) == sample.MaxFiles {
			return nil
		}
		f, err := r.fileOf(row)
		list[i].List = append(list[i].List, f)
		return err
	}, r.sel(&tableFilePages)+" ORDER BY id")
	return list, err
}

func (r *Reader) fileOf(row []driver.Value) (f sample.FilePages, err error) {
	bytes := func(i int) sample.Bytes { return sample.Bytes(max(0, integer(row[i]))) }
	opt := func(i int) sample.Opt[sample.Bytes] {
		if row[i] == nil {
			return sample.Opt[sample.Bytes]{}
		}
		return sample.Some(bytes(i))
	}
	f = sample.FilePages{Path: str(row[2]), Kind: sample.FileKind(str(row[3])), Deleted: integer(row[4]) != 0, Size: bytes(5), Resident: bytes(6),
		Partial: integer(row[7]) != 0, Dirty: opt(8), Writeback: opt(9), Charged: opt(10), Mapped: bytes(11),
		Descriptors: int(max(0, integer(row[13]))), Mappings: int(max(0, integer(row[14])))}
	if row[12] != nil {
		f.Process, err = r.keyOf(row[12])
	}
	if r.redactor != nil {
		f.Path = r.redactor.dataFile(f.Path)
	}
	return f, err
}

// dataFile is a file's path without names: its number, and of its name the extension that says what it is.
func (d *redactor) dataFile(name string) string {
	if d.files == nil {
		d.files = map[string]int{}
	}
	if d.files[name] == 0 {
		d.files[name] = len(d.files) + 1
	}
	if known := fileEnding.FindString(strings.ToLower(path.Base(name))); known != "" {
		return fmt.Sprintf("file %d%s", d.files[name], known)
	}
	return fmt.Sprintf("file %d", d.files[name])
}
