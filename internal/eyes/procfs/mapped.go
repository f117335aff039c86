package procfs

import (
	"cmp"
	"slices"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// MappedFile is a file that a process has mapped, all mappings of it in one.
type MappedFile struct {
	Path       string // as the kernel writes it: a newline as \012, and " (deleted)" behind a file that was removed
	Device     string // "8:1"
	Inode      uint64
	Start, End uint64 // of the first mapping
	Mappings   int
	// Resident are the pages of the file that the process has in its address space.
	Resident sample.Bytes
	// Shared means that what is written through a mapping of it goes to the file.
	Shared bool
}

// maxMappedFiles bounds a list of them: those with most resident pages are kept.
const maxMappedFiles = 1000

// MappedFiles lists the files of the last reading of sizes (Residency, Mappings) that have pages in the process's
// address space, most first.
func (m *Mapper) MappedFiles() []MappedFile {
	type file struct {
		device string
		inode  uint64
	}
	index := map[file]int{}
	var list []MappedFile
	for i := range m.mappings {
		at := &m.mappings[i]
		resident := at.Rss.Sub(at.Anonymous)
		if !at.FileBacked() || resident == 0 {
			continue
		}
		key := file{at.device, at.Inode}
		n, known := index[key]
		if !known {
			n = len(list)
			index[key] = n
			list = append(list, MappedFile{Path: at.Path, Device: at.device, Inode: at.Inode, Start: at.Start, End: at.End})
		}
		list[n].Mappings++
		list[n].Resident += resident
		list[n].Shared = list[n].Shared || at.Perms[3] == 's'
	}
	slices.SortStableFunc(list, func(a, b MappedFile) int { return cmp.Compare(b.Resident, a.Resident) })
	return slices.Clone(list[:min(len(list), maxMappedFiles)])
}
