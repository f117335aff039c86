package arch

import (
	"bufio"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// wings are the folders of internal that rooms lie in, as ARCHITECTURE.md has them. app and
// cli are rooms by themselves.
var wings = map[string][]string{
	"words": {"sample", "units", "visible", "sorting"},
	"files": {"regular", "elffile", "outfile", "source"},
	"eyes": {"procfs", "cgroup", "container", "gobin", "gomem", "gostats", "goheap", "malloc", "corefile", "pull", "filepages", "faultprofile", "probe",
		"lastbreath"},
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

var (
	wingLine  = regexp.MustCompile(`^      ([a-z]+)/\s`)
	anyRoom   = regexp.MustCompile(`\b[a-z]+\b`)
	tourWing  = regexp.MustCompile("(?m)^## .*: (`.*`)$")
	tourRooms = regexp.MustCompile("`([a-z]+)`")
)

// wingsOfPicture are the rooms of the picture of the house by the wing that they stand under, "" for those of none.
func wingsOfPicture(text string) map[string][]string {
	drawn := make(map[string][]string)
	wing, inside := "", false
	for line := range strings.Lines(text) {
		switch m := wingLine.FindStringSubmatch(line); {
		case strings.HasPrefix(line, "    internal/"):
			inside = true
		case inside && !strings.HasPrefix(line, "      "):
			return drawn
		case inside && m != nil:
			wing = m[1]
		case inside:
			if strings.HasPrefix(line, "      floor") {
				wing = ""
			}
			for room := range documentedRooms(bufio.NewScanner(strings.NewReader("      floor 0 x/ y\n" + line))) {
				if room != "x" {
					drawn[wing] = append(drawn[wing], room)
				}
			}
		}
	}
	return drawn
}

// Three places draw the wings: the way of the data, the house, and the tour.
func TestThePicturesHaveTheSameWings(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root(t), "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	drawn := wingsOfPicture(string(text))
	for wing, rooms := range wings {
		if got := slices.Sorted(slices.Values(drawn[wing])); !slices.Equal(got, slices.Sorted(slices.Values(rooms))) {
			t.Errorf("in ARCHITECTURE.md %s has %q, want %q", wing, got, rooms)
		}
	}
	if got := slices.Sorted(slices.Values(drawn[""])); !slices.Equal(got, []string{"app", "cli"}) {
		t.Errorf("in ARCHITECTURE.md rooms by themselves are %q", got)
	}

	way, _, found := strings.Cut(string(text), "\n    words/ and files/ are below")
	if !found {
		t.Fatal("the way of the data is not drawn")
	}
	_, way, _ = strings.Cut(way, "    the world ")
	onTheWay := anyRoom.FindAllString(way, -1)
	for _, wing := range []string{"eyes", "record", "measure", "decide", "answer", "show"} {
		for _, room := range append(wings[wing], wing) {
			if !slices.Contains(onTheWay, room) {
				t.Errorf("%s is not on the way of the data", room)
			}
		}
	}

	tour, err := os.ReadFile(filepath.Join(root(t), "docs", "tour.md"))
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, m := range tourWing.FindAllStringSubmatch(string(tour), -1) {
		var rooms []string
		for _, room := range tourRooms.FindAllStringSubmatch(m[1], -1) {
			rooms = append(rooms, room[1])
		}
		slices.Sort(rooms)
		told = append(told, strings.Join(rooms, " "))
	}
	want := []string{"app cli"}
	for wing, rooms := range wings {
		if wing != "aside" {
			want = append(want, strings.Join(slices.Sorted(slices.Values(rooms)), " "))
		}
	}
	slices.Sort(told)
	slices.Sort(want)
	if !slices.Equal(told, want) {
		t.Errorf("docs/tour.md tells of\n%q, want\n%q", told, want)
	}
}
