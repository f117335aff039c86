package arch

import (
	"slices"
	"strings"
	"testing"
)

// wings are the folders of internal that rooms lie in, as ARCHITECTURE.md has them. app and
// cli are rooms by themselves.
var wings = map[string][]string{
	"words":   {"sample", "units", "visible", "arrange"},
	"files":   {"regular", "elffile", "outfile", "source"},
	"eyes":    {"procfs", "cgroup", "container", "gobin", "gomem", "malloc", "corefile", "pull", "filepages", "faultprofile", "probe", "lastbreath"},
	"record":  {"capture", "recording", "watch"},
	"measure": {"series", "heapdiff", "heapgraph", "pacer", "latency", "budget"},
	"decide":  {"explain", "trial"},
	"answer":  {"moment", "heapgrowth", "compare", "listing"},
	"show":    {"report", "heapsnapshot", "perfetto", "web", "top", "fleet"},
	"aside":   {"arch", "bench", "hwtest", "howto", "incontainer", "testprog", "thirdparty"},
}

// roomOf is the room of a path below internal, "eyes/gobin/layoutgen/main.go": "gobin". It is the first
// part where that is no wing.
func roomOf(path string) string {
	first, rest, _ := strings.Cut(path, "/")
	if _, ok := wings[first]; !ok {
		return first
	}
	room, _, _ := strings.Cut(rest, "/")
	return room
}

// folderOf is where a room lies, below internal.
func folderOf(room string) string {
	for wing, rooms := range wings {
		if slices.Contains(rooms, room) {
			return wing + "/" + room
		}
	}
	return room
}

func TestEveryRoomIsInItsWing(t *testing.T) {
	for room := range floors {
		if alone := room == "app" || room == "cli"; (folderOf(room) == room) != alone {
			t.Errorf("%s lies in %s", room, folderOf(room))
		}
	}
	for _, s := range sources(t) {
		below, inside := strings.CutPrefix(s.path, "internal/")
		if inside && !strings.HasPrefix(below, folderOf(s.room)+"/") {
			t.Errorf("%s: the wing of %s is another", s.path, s.room)
		}
	}
}
