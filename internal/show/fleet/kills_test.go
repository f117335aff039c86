package fleet

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/cgroup"
)

// counters is a tree of version 2 whose counters a test sets.
func counters(t *testing.T) (h *cgroup.Hierarchy, set func(group, kills string)) {
	t.Helper()
	root := t.TempDir()
	return &cgroup.Hierarchy{Version: 2, Mount: root, Base: "/"}, func(group, kills string) {
		t.Helper()
		dir := filepath.Join(root, group)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{"memory.current": "1000\n", "memory.max": "64000000\n",
			"memory.events": "low 0\nhigh 0\nmax 3\noom 1\noom_kill " + kills + "\noom_group_kill 0\n"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestKillsThatNobodyToldAreToldOnce(t *testing.T) {
	t.Parallel()
	h, set := counters(t)
	set("shop", "7") // from before
	file := filepath.Join(t.TempDir(), "kills.json")
	k := NewKills(file, "boot")
	paths := map[string]Identity{"/shop": {Service: "shop"}, "/gone": {}}
	at := monday
	look := func(after time.Duration) (sum uint64) {
		t.Helper()
		at = at.Add(after)
		untold, gone := k.Look(h, paths, "boot", at)
		if len(gone) != 1 || gone[0] != "/gone" {
			t.Errorf("gone: %v", gone)
		}
		for _, u := range untold {
			sum += u.N
		}
		return sum
	}
	step := func(what string, after time.Duration, want uint64) {
		t.Helper()
		if n := look(after); n != want {
			t.Errorf("%s: %d kills are told, want %d", what, n, want)
		}
	}
	step("what was there", 0, 0)
	step("and stays", time.Hour, 0)
	set("shop", "8")
	step("one is counted", time.Second, 0)
	k.Told("/shop")
	step("and told in time", toldWithin, 0)
	k.Told("/shop") // told before the kernel's count is read
	set("shop", "9")
	step("told first", toldWithin, 0)
	set("shop", "11")
	step("two are not told", time.Second, 0)
	step("yet", time.Second, 0)
	step("and time is over", toldWithin, 2)
	step("once", toldWithin, 0)
	if err := k.Keep(); err != nil {
		t.Fatal(err)
	}
	k.Close()
	set("shop", "12") // while no agent runs
	k = NewKills(file, "boot")
	if who := k.Known()["/shop"]; who.Service != "shop" {
		t.Errorf("%+v", k.Known())
	}
	step("another agent", time.Second, 0)
	step("tells what it did not see", toldWithin, 1)
	if other := NewKills(file, "another boot"); len(other.Known()) != 0 {
		t.Error("counts of another boot are taken over")
	}
	k.Told("/shop") // by a signal: the kernel does not count it
	step("one too many", time.Second, 0)
	step("is forgotten", toldWithin, 0)
	set("shop", "13")
	step("so that the next", time.Second, 0)
	step("is told", toldWithin, 1)
	k.Close()
	if err := os.WriteFile(file, []byte("{torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	if NewKills(file, "boot").Known() == nil {
		t.Error("a torn file")
	}
}

// A program is killed before its cgroup is looked at, and the agent ends: the next one tells the kill.
func TestAKillRightAfterItsProgramWasFoundIsTold(t *testing.T) {
	t.Parallel()
	h, set := counters(t)
	set("shop", "7")
	file, shop := filepath.Join(t.TempDir(), "kills.json"), map[string]Identity{"/shop": {Service: "shop"}}
	k := NewKills(file, "boot")
	k.Note(h, "/shop", shop["/shop"], "boot", monday)
	set("shop", "8")
	k.Note(h, "/shop", shop["/shop"], "boot", monday) // another program there
	if err := k.Keep(); err != nil {
		t.Fatal(err)
	}
	k.Close()
	k = NewKills(file, "boot")
	if who := k.Known()["/shop"]; who.Service != "shop" {
		t.Errorf("%+v", k.Known())
	}
	k.Look(h, shop, "boot", monday)
	if untold, _ := k.Look(h, shop, "boot", monday.Add(toldWithin)); len(untold) != 1 || untold[0].N != 1 {
		t.Errorf("%+v", untold)
	}
	k.Close()
}
