package arch

import "slices"

// module is the path that all rooms' import paths begin with.
const module = "github.com/highwater-go/highwater/"

// aside is the floor of rooms that only tests and their own commands use; they
// may import any room.
const aside = 100

// floors is the table of rooms under internal, as ARCHITECTURE.md has it. A
// package imports lower floors only.
var floors = map[string]int{
	"sample": 0, "units": 0, "regular": 0, "visible": 0, "sorting": 0, "elffile": 0,
	"procfs": 1, "malloc": 1, "cgroup": 1, "gobin": 1, "gomem": 1, "gostats": 1, "goheap": 1, "lastbreath": 1, "pull": 1, "corefile": 1, "capture": 1, "source": 1,
	"probe": 1, "outfile": 1, "container": 1, "faultprofile": 1, "filepages": 1,
	"recording": 2, "watch": 2,
	"series": 3, "heapdiff": 3, "heapgraph": 3, "pacer": 3, "latency": 3, "budget": 3, "perfetto": 3,
	"explain": 4, "trial": 4,
	"moment": 5, "heapgrowth": 5,
	"compare": 6, "listing": 6,
	"report": 7, "heapsnapshot": 7, "web": 7, "top": 7, "fleet": 7,
	"app": 8, "cli": 9,
	"arch": aside, "bench": aside, "hwtest": aside, "howto": aside, "incontainer": aside, "testprog": aside, "thirdparty": aside,
}

// neighbours are the imports within one floor that are allowed by name.
var neighbours = map[string][]string{
	"goheap":     {"gobin", "gomem"},
	"gomem":      {"gobin"},
	"gostats":    {"gobin", "gomem"},
	"lastbreath": {"procfs"},
	"malloc":     {"procfs"},
	"filepages":  {"procfs"},
	"sample":     {"units"},
}

// keepers are rooms that alone may use a package (and those below its path):
// the world outside has one door each.
var keepers = map[string][]string{
	"modernc.org/sqlite":            {"recording", "fleet", "hwtest"},
	"database/sql":                  {"recording", "fleet", "hwtest"},
	"github.com/spf13/cobra":        {"cli"},
	"github.com/gdamore/tcell":      {"top"},
	"github.com/cilium/ebpf":        {"lastbreath", "faultprofile"},
	"net/http":                      {"pull", "probe", "web", "app", "fleet"},
	"github.com/prometheus/common":  {"pull"},
	"github.com/google/pprof":       {"report", "app", "pull", "heapdiff"},
	"github.com/klauspost/compress": {"recording", "report", "fleet"},
	"google.golang.org/protobuf":    {"fleet", "heapdiff", "perfetto"},

	"kernel.org/pub/linux/libs/security/libcap": {"watch"},
}

// speakers may write to the process's own standard output and error; all others
// are given a writer, or return what they found.
var speakers = []string{"app", "cli", "web"}

// filers may make files: outfile those that users ask for, recording its databases.
var filers = []string{"outfile", "recording"}

// emptyNames say nothing of what a package is.
var emptyNames = []string{"pkg", "util", "utils", "common", "model", "models", "types", "manager", "helpers", "misc", "base"}

// mayImport says why a room may not import another; "" if it may.
func mayImport(from, to string, inTest bool) string {
	lower, ok := floors[to]
	if !ok {
		return "room " + to + " is in no table"
	}
	upper := floors[from]
	switch {
	case from == to, upper == aside, slices.Contains(neighbours[from], to):
		return ""
	case lower == aside && inTest, inTest && slices.Contains(neighbours[to], from):
		return "" // what stands on a room may help to test it, in a package of its own
	case lower == aside:
		return "only tests use " + to
	case lower == upper:
		return to + " is its neighbour"
	case lower > upper:
		return to + " stands on a higher floor"
	}
	return ""
}
