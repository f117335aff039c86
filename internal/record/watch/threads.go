package watch

import (
	"cmp"
	"slices"

	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/words/sample"
)

const (
	// threadsMany is from how many threads of C on it is named what they run: to read symbols takes milliseconds.
	threadsMany = 64
	// threadStartsKept bounds the functions that are kept.
	threadStartsKept = 16
)

// threadStarts names what threads of C run, nil where they are few.
func (p *process) threadStarts(list []procfs.ThreadStart) (named []sample.ThreadStart) {
	threads := 0
	for _, one := range list {
		threads += one.Count
	}
	if threads < threadsMany || p.bin == nil {
		return nil
	}
	code := codeMap{p: p}
	defer code.close()
	for _, one := range list {
		t := sample.ThreadStart{Count: one.Count}
		if image, bias := code.Image(one.Address); image != nil {
			t.Func, t.Module = image.Function(one.Address-bias), image.Name
		}
		t.Go = t.Func == "threadentry" // runtime/cgo/gcc_linux_amd64.c
		named = append(named, t)
	}
	slices.SortStableFunc(named, func(a, b sample.ThreadStart) int { return cmp.Compare(b.Count, a.Count) })
	return named[:min(len(named), threadStartsKept)]
}
