package malloc

import (
	"path"
	"slices"
	"strings"
)

const glibc = "glibc"

type library struct{ prefix, name string }

// libraries are the beginnings of names of files by which allocators are known. One that replaces
// malloc comes before the C library.
var libraries = []library{
	{"libjemalloc", "jemalloc"},
	{"libtcmalloc", "tcmalloc"},
	{"libmimalloc", "mimalloc"},
	{"ld-musl-", "musl"},
	{"libc.musl-", "musl"},
	{"libc.so.6", glibc},
	{"libc-2.", glibc},
}

// howToAsk says how each of those that are not read tells of itself.
var howToAsk = map[string]string{
	"musl":     "highwater does not read musl's malloc, and musl has no statistics of its own",
	"jemalloc": "highwater does not read jemalloc; MALLOC_CONF=stats_print:true prints its statistics when the program ends",
	"tcmalloc": "highwater does not read tcmalloc; MALLOCSTATS=1 prints its statistics when the program ends (gperftools)",
	"mimalloc": "highwater does not read mimalloc; MIMALLOC_SHOW_STATS=1 prints its statistics when the program ends",
}

// nameOf names the allocator whose file is mapped, "" where none is.
func nameOf(mappings []Mapping) string {
	best := len(libraries)
	for i := range mappings {
		if !mappings[i].File {
			continue
		}
		if k := libraryOf(mappings[i].Path); k >= 0 && k < best {
			best = k
		}
	}
	if best == len(libraries) {
		return ""
	}
	return libraries[best].name
}

// libraryOf is the first of libraries that a file is, -1 where it is none.
func libraryOf(file string) int {
	base := path.Base(strings.TrimSuffix(file, " (deleted)"))
	return slices.IndexFunc(libraries, func(l library) bool { return strings.HasPrefix(base, l.prefix) })
}
