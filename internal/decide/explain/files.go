package explain

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/sorting"
)

// FileHolder is a file behind page cache or shared memory, or several of one directory. The bytes of all are
// never more than their row.
type FileHolder struct {
	Path  string       `json:"path"` // of several files "/dev/shm/frames/*.tmp"
	Kind  string       `json:"kind"` // "page cache", "tmpfs", "memfd" or "shared"
	Use   string       `json:"use,omitempty"`
	Count int          `json:"count"`
	Bytes sample.Bytes `json:"bytes"` // of the row
	// Known means that the kernel says that the program is charged for these bytes. Else others may be, for some of
	// them.
	Known       bool          `json:"known"`
	DirtyBytes  *sample.Bytes `json:"dirty_bytes,omitempty"`
	MappedBytes sample.Bytes  `json:"mapped_bytes"`
	Deleted     bool          `json:"deleted"`
	PID         int           `json:"pid,omitempty"` // of who has it open or mapped; 0: nobody had
}

const (
	// filesAlike is from how many files of one directory with one ending on they are one holder.
	filesAlike = 4
	// filesInRow bounds the files that are parts of a row, and filesSaid those that a sentence names.
	filesInRow, filesSaid = 5, 3
)

// The names of parts of page cache and of shared memory that are no file's.
const (
	PartOtherFiles = "other files"
	PartUnnamed    = "not named"
)

// lookedFiles reads the looks at files.
func (l *loader) lookedFiles() (err error) {
	l.e.Files, err = l.Reader.Files()
	return err
}

// filesNear is how far from an instant another look may be that explains more of it: a look that was cut short, as on a
// busy machine, or came before a file grew, says less than the next. A watch looks at least each ten seconds.
const filesNear = 10 * time.Second

// filesNow is the look at files of the moment; nil: there is none.
func (c *Case) filesNow() *recording.FilesAt {
	return c.filesAt(c.Moment.At, c.ledger.Row(sample.RowPageCache), c.ledger.Row(sample.RowShmem))
}

// filesAt is the look nearest to an instant that found something. Where that explains less than three quarters of so
// much page cache and shared memory, it is the near one that explains most.
func (c *Case) filesAt(at time.Time, cache, shmem sample.Bytes) (best *recording.FilesAt) {
	away := func(f *recording.FilesAt) time.Duration { return f.At.Sub(at).Abs() }
	for i := range c.Evidence.Files {
		if f := &c.Evidence.Files[i]; len(f.List) > 0 && (best == nil || away(f) <= away(best)) {
			best = f
		}
	}
	if best == nil {
		return nil
	}
	near, most := max(away(best), filesNear), explains(best, cache, shmem)
	if most >= (cache+shmem)/4*3 {
		return best
	}
	for i := range c.Evidence.Files {
		if f := &c.Evidence.Files[i]; away(f) <= near && explains(f, cache, shmem) > most {
			best, most = f, explains(f, cache, shmem)
		}
	}
	return best
}

// explains is how much of page cache and shared memory a look found.
func explains(f *recording.FilesAt, cache, shmem sample.Bytes) sample.Bytes {
	foundCache, foundShmem := f.OtherCacheBytes, f.OtherShmemBytes
	for i := range f.List {
		if f.List[i].Kind.IsShmem() {
			foundShmem += f.List[i].Claim()
		} else {
			foundCache += f.List[i].Claim()
		}
	}
	return min(foundCache, cache) + min(foundShmem, shmem)
}

// holdersOfFiles are the files of a row, most bytes first.
func (c *Case) holdersOfFiles(row string) []FileHolder {
	return c.holdersIn(c.filesNow(), row, c.ledger.Row(row))
}

// holdersIn are the files that a look found of a row. What the kernel says of whose pages are comes first, then
// what programs have open or mapped; what is claimed of the row together is no more than it.
func (c *Case) holdersIn(now *recording.FilesAt, row string, left sample.Bytes) (list []FileHolder) {
	if now == nil {
		return nil
	}
	files := slices.DeleteFunc(slices.Clone(now.List), func(f sample.FilePages) bool { return f.Kind.IsShmem() != (row == sample.RowShmem) })
	sorting.Stable(files, func(a, b sample.FilePages) int { return cmp.Compare(doubtOf(&a), doubtOf(&b)) })
	for i := range files {
		f := &files[i]
		h := FileHolder{Path: f.Path, Kind: string(f.Kind), Use: c.useOf(f), Count: 1, Bytes: min(left, f.Claim()), Known: f.Charged.OK, MappedBytes: f.Mapped,
			Deleted: f.Deleted, PID: f.Process.PID}
		if f.Dirty.OK {
			dirty := min(f.Dirty.V, h.Bytes)
			h.DirtyBytes = &dirty
		}
		if left -= h.Bytes; h.Bytes > 0 {
			list = append(list, h)
		}
	}
	list = together(list)
	sorting.Stable(list, func(a, b FileHolder) int { return cmp.Compare(b.Bytes, a.Bytes) })
	return list
}

// filesAnswer are those of both rows.
func (c *Case) filesAnswer() []FileHolder {
	return slices.Concat(c.holdersOfFiles(sample.RowPageCache), c.holdersOfFiles(sample.RowShmem))
}

// doubtOf orders files by how sure it is that the program is charged for them.
func doubtOf(f *sample.FilePages) int {
	switch {
	case f.Charged.OK:
		return 0
	case f.Process.PID != 0:
		return 1
	}
	return 2
}

// together makes one of several files that lie in one directory and have one ending.
func together(list []FileHolder) (out []FileHolder) {
	pattern := func(h *FileHolder) string {
		return fmt.Sprint(path.Join(path.Dir(h.Path), "*"+path.Ext(h.Path)), "\n", h.Kind, "\n", h.Use, "\n", h.Deleted)
	}
	members := map[string]int{}
	for i := range list {
		members[pattern(&list[i])]++
	}
	index := map[string]int{}
	for _, h := range list {
		key := pattern(&h)
		if members[key] < filesAlike {
			out = append(out, h)
			continue
		}
		i, known := index[key]
		if !known {
			index[key] = len(out)
			h.Path, _, _ = strings.Cut(key, "\n"+h.Kind)
			out = append(out, h)
			continue
		}
		out[i].add(&h)
	}
	for key, i := range index {
		if h := &out[i]; path.Dir(h.Path) == "/" { // memory without a directory: what its names have in common says more
			h.Path = "/" + commonPrefix(list, func(f *FileHolder) bool { return pattern(f) == key }) + strings.TrimPrefix(h.Path, "/")
		}
	}
	return out
}

// commonPrefix is how the names of those files begin, without the digits that number them.
func commonPrefix(list []FileHolder, of func(*FileHolder) bool) (prefix string) {
	first := true
	for i := range list {
		if !of(&list[i]) {
			continue
		}
		name := strings.TrimPrefix(list[i].Path, "/")
		if first {
			prefix, first = name, false
		}
		for !strings.HasPrefix(name, prefix) {
			prefix = prefix[:len(prefix)-1]
		}
	}
	return strings.TrimRight(prefix, "0123456789")
}

// add takes another file in.
func (h *FileHolder) add(o *FileHolder) {
	h.Count += o.Count
	h.Bytes += o.Bytes
	h.MappedBytes += o.MappedBytes
	h.Known = h.Known && o.Known
	h.PID = cmp.Or(h.PID, o.PID)
	if h.DirtyBytes != nil && o.DirtyBytes != nil {
		dirty := *h.DirtyBytes + *o.DirtyBytes
		h.DirtyBytes = &dirty
	} else {
		h.DirtyBytes = nil
	}
}

// fileParts divides page cache or shared memory by file.
func (c *Case) fileParts(row sample.Bytes, name string) (parts []RowPart) {
	holders := c.holdersOfFiles(name)
	if len(holders) == 0 {
		return nil
	}
	left := row
	for _, h := range holders[:min(len(holders), filesInRow)] {
		parts = append(parts, RowPart{h.name(), h.Bytes})
		left = left.Sub(h.Bytes)
	}
	others := c.otherFiles(name)
	for _, h := range holders[len(parts):] {
		others += h.Bytes
	}
	for _, p := range []RowPart{{PartOtherFiles, min(others, left)}, {PartUnnamed, left.Sub(others)}} {
		if p.Bytes > 0 {
			parts = append(parts, p)
		}
	}
	return parts
}

// otherFiles are the bytes of files that were counted and are not listed.
func (c *Case) otherFiles(row string) sample.Bytes {
	_, bytes := c.smallerFiles(row)
	return bytes
}

// smallerFiles are those that were counted and are not listed, which are no larger than any that is.
func (c *Case) smallerFiles(row string) (n int, bytes sample.Bytes) {
	now := c.filesNow()
	switch {
	case now == nil:
		return 0, 0
	case row == sample.RowShmem:
		return now.OtherShmem, now.OtherShmemBytes
	}
	return now.OtherCache, now.OtherCacheBytes
}

// name is how a list calls it.
func (h *FileHolder) name() string {
	switch {
	case h.Kind == string(sample.FileShm):
		return "shared memory without a file"
	case h.Deleted && h.Kind != string(sample.FileMemfd):
		return h.Path + " (deleted)"
	}
	return h.Path
}

// words say it in a sentence: "/dev/shm/frames/*.tmp (25 files, 121 MiB)".
func (h *FileHolder) words() string {
	var about []string
	one := "file"
	if h.Kind == string(sample.FileShm) {
		one = "mapping"
	}
	if h.Count > 1 {
		about = append(about, count(h.Count, one))
	}
	if h.Use != "" {
		about = append(about, h.Use)
	}
	return fmt.Sprintf("%s (%s)", h.noun(), strings.Join(append(about, size(h.Bytes)), ", "))
}

// noun is what it is.
func (h *FileHolder) noun() string {
	if h.Kind == string(sample.FileMemfd) {
		return "the memfd " + strings.TrimPrefix(h.Path, "/memfd:")
	}
	return h.name()
}

// filesWhy names the files that most of a row is.
func (c *Case) filesWhy(row string) []Why {
	return c.whyOfFiles(c.holdersOfFiles(row), row, c.ledger.Row(row))
}

func (c *Case) whyOfFiles(holders []FileHolder, row string, whole sample.Bytes) (whys []Why) {
	if len(holders) == 0 {
		return nil
	}
	evidence := []string{"files"}
	var words []string
	var named, gone, dirty sample.Bytes
	for i, h := range holders {
		if i < filesSaid && h.Bytes*10 >= holders[0].Bytes {
			words = append(words, h.words())
		}
		named += h.Bytes
		if h.Deleted && (h.Kind == string(sample.FileTmpfs) || h.Kind == string(sample.FileCache)) {
			gone += h.Bytes
		}
		if h.DirtyBytes != nil {
			dirty += *h.DirtyBytes
		}
	}
	text := fmt.Sprintf("%.0f%% of the %s is data of %s", 100*float64(named)/float64(max(1, whole)), RowWord(row), list(words, "and"))
	if n, bytes := c.smallerFiles(row); bytes > named {
		text += fmt.Sprintf(". %s other files, each at most as large, have %s together", thousands(float64(n)), size(min(bytes, whole.Sub(named))))
	}
	whys = append(whys, Why{Text: text, Evidence: evidence})
	if gone*10 >= whole {
		whys = append(whys, Why{Text: fmt.Sprintf("%s is data of files that were deleted and are still open. To free this memory, close the files", size(gone)),
			Evidence: evidence})
	}
	if row == sample.RowPageCache && dirty*4 >= whole {
		whys = append(whys, Why{Text: fmt.Sprintf("%s of the %s waits to be written to disk, and cannot be dropped before that", size(dirty), RowWord(row)),
			Evidence: evidence})
	}
	if k := c.causeOfFiles(holders, whole); k != nil {
		whys = append(whys, Why{Text: k.Why, Evidence: evidence, URL: k.URL})
	}
	return whys
}

// factFiles is how much of page cache and shared memory is named, none where files were not looked for.
func (c *Case) factFiles() []Fact {
	now := c.filesNow()
	if now == nil {
		return nil
	}
	f := Fact{ID: "files", Values: map[string]int64{}}
	var words []string
	for _, row := range []struct{ name, value string }{{sample.RowPageCache, "page_cache"}, {sample.RowShmem, "shared_memory"}} {
		whole := c.ledger.Row(row.name)
		if whole == 0 {
			continue
		}
		named := c.otherFiles(row.name)
		for _, h := range c.holdersOfFiles(row.name) {
			named += h.Bytes
		}
		named = min(named, whole)
		f.Values[row.value+"_named_bytes"] = int64(named)
		words = append(words, fmt.Sprintf("%.0f%% of %s (%s)", 100*float64(named)/float64(whole), RowWord(row.name), size(whole)))
	}
	f.Text = "files name " + list(words, "and")
	if now.Unread > 0 {
		f.Values["files_not_counted"] = int64(now.Unread)
		f.Text += fmt.Sprintf("; %s not counted: %s", count(now.Unread, "file"), now.Why)
	}
	return []Fact{f}
}

// causeOfFiles is what is well known of a file that has a fifth of a row or more.
func (c *Case) causeOfFiles(holders []FileHolder, whole sample.Bytes) *Cause {
	for _, list := range [][]Cause{c.more, causes()} {
		for i := range list {
			for _, h := range holders {
				if h.Use != "" && slices.Contains(list[i].Uses, h.Use) && h.Bytes*5 >= whole {
					return &list[i]
				}
			}
		}
	}
	return nil
}

// fileFix is what to do about the files of shared memory, of which a line may be known to have mapped most.
func (c *Case) fileFix(k *Culprit) string {
	if k == nil {
		return c.freeFiles()
	}
	what := c.freeFiles()
	if hs := c.holdersOfFiles(sample.RowShmem); len(hs) == 0 || hs[0].Kind == string(sample.FileShm) {
		what = unmap
	}
	return fmt.Sprintf("%s:%d: %s", path.Base(k.File), k.Line, what)
}

func (c *Case) freeFiles() string {
	const otherwise = "write the files to a disk, or limit the size of the tmpfs"
	holders := c.holdersOfFiles(sample.RowShmem)
	_, smaller := c.smallerFiles(sample.RowShmem) // of which nothing is known but that they are many
	if len(holders) == 0 || holders[0].Bytes*2 < c.ledger.Row(sample.RowShmem).Sub(smaller) {
		return otherwise
	}
	switch h := &holders[0]; {
	case h.Kind == string(sample.FileMemfd) && h.Count > 1:
		return "close " + h.noun() + " when no longer needed: each counts as memory until its last descriptor and mapping are gone"
	case h.Kind == string(sample.FileMemfd), h.Kind == string(sample.FileShm):
		return "free " + h.noun() + " when it is no longer needed, or make it smaller"
	case h.Deleted:
		return "close " + h.Path + " when no longer needed: a deleted file counts as memory until it is closed"
	default:
		return "delete " + h.Path + " when no longer needed, write it to a disk, or limit the size of the tmpfs"
	}
}
