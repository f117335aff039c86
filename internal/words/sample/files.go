package sample

import "time"

// Files are those whose pages the kernel counts as memory of the programs at an instant: of files on
// disks (page cache), of tmpfs, and memory that is shared under a file's name.
type Files struct {
	List []FilePages // most bytes first, at most MaxFiles
	// Others is the number of files that were counted and are not in List, of either kind, and their bytes.
	OtherCache, OtherShmem           int
	OtherCacheBytes, OtherShmemBytes Bytes
	// Unread is the number of files that were met and not counted, for Why in a user's words.
	Unread int
	Why    string

	Took time.Duration // to look
}

// MaxFiles bounds Files.List.
const MaxFiles = 40

// FileKind says what sort of memory a file's pages are.
type FileKind string

// The kinds. All but FileCache are shared memory to the kernel, which it cannot take back without swap.
const (
	FileCache FileKind = "page cache"
	FileTmpfs FileKind = "tmpfs"
	FileMemfd FileKind = "memfd"  // memfd_create(2): a file without a directory
	FileShm   FileKind = "shared" // System V shared memory, and mappings that are shared without a file
)

// IsShmem says whether the kernel counts the pages as shared memory.
func (k FileKind) IsShmem() bool { return k != FileCache }

// FilePages is one file and what of it is in memory.
type FilePages struct {
	Path    string // as the program's own mounts have it; bytes of others, which may be no text
	Kind    FileKind
	Deleted bool // it has no name any more, and goes with its last user
	Size    Bytes
	// Resident are its pages in memory, whoever touched them first. Where Partial is set, only those are
	// known that processes have mapped.
	Resident Bytes
	Partial  bool
	// Dirty and Writeback are the parts of it that wait to be written, and that are being written.
	Dirty, Writeback Opt[Bytes]
	// Charged is the part of Resident that the programs' cgroup is charged for, estimated from pages
	// of it; absent: not known.
	Charged Opt[Bytes]
	// Mapped are pages that processes have in their address space; where several do, the largest.
	Mapped Bytes
	// Process has it open or mapped; the zero key: no process has, it was found in a directory.
	Process ProcessKey
	// Descriptors and Mappings are how many of them lead to it.
	Descriptors, Mappings int
}

// Claim is what the file may be said to take of the programs' memory at most.
func (f *FilePages) Claim() Bytes { return min(f.Resident, f.Charged.Or(f.Resident)) }
