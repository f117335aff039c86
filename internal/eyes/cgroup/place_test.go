package cgroup_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/eyes/cgroup"
)

// nobody is a uid without rights.
const nobody = 65534

func TestWithoutRightsCreateSaysWhatIsMissingAtEveryPlace(t *testing.T) {
	hwtest.Need(t, hwtest.Root)
	h := detect(t)
	got := startHelper(t, nobody).ask("create", 1<<30)
	for _, want := range []string{"no memory cgroup can be made here", h.Mount, "permission denied", "can still be watched"} {
		if !strings.Contains(got, want) {
			t.Errorf("the error lacks %q: %s", want, got)
		}
	}
	_, err := h.Create(cgroup.Options{Parent: "/no/such/cgroup"})
	if !errors.Is(err, cgroup.ErrNotPermitted) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Create in a cgroup that is not there = %v", err)
	}
}

// The name of a cgroup that is left behind can be guessed: whoever may make cgroups can
// give it to one of theirs.
func TestALeftCgroupOfAnotherUserIsLeftAlone(t *testing.T) {
	hwtest.Need(t, hwtest.Root, hwtest.Cgroup)
	h := detect(t)
	maker := startHelper(t, os.Getuid())
	path := maker.ask("create")
	c, err := h.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	dir := c.Dir
	c.Close()
	t.Cleanup(func() { os.Remove(dir) })
	if err := os.Chown(dir, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	maker.kill() // only now may anybody clean up
	removed, err := h.CleanStale()
	if _, left := os.Stat(dir); err != nil || slices.Contains(removed, path) || left != nil {
		t.Errorf("removed %v, %v; it is %v", removed, err, left)
	}
	if err := os.Chown(dir, os.Getuid(), os.Getgid()); err != nil {
		t.Fatal(err)
	}
	if _, err := h.CleanStale(); err != nil {
		t.Error(err)
	}
	if _, left := os.Stat(dir); !errors.Is(left, fs.ErrNotExist) {
		t.Errorf("our own is %v", left)
	}
}

func TestACgroupOutlivesItsKilledMakerUntilItIsEmpty(t *testing.T) {
	hwtest.Need(t, hwtest.Cgroup)
	h := detect(t)
	maker, program := startHelper(t, os.Getuid()), startHelper(t, os.Getuid())
	path := maker.ask("create")
	if !strings.HasPrefix(filepath.Base(path), "highwater-") {
		t.Fatalf("create: %s", path)
	}
	clean := func(want bool, when string) {
		t.Helper()
		removed, err := h.CleanStale()
		if err != nil {
			t.Error(err)
		}
		_, err = h.Open(path)
		// Another program may clean up at the same time: gone is what counts.
		if slices.Contains(removed, path) && !want || errors.Is(err, fs.ErrNotExist) != want {
			t.Errorf("CleanStale %s removed %v, Open then: %v", when, removed, err)
		}
	}
	clean(false, "while the maker lives")
	if got := maker.ask("add", program.Process.Pid); got != "done" {
		t.Fatal(got)
	}
	maker.kill()
	clean(false, "while the program lives")
	if got := program.ask("where"); got != path {
		t.Errorf("the program is in %s", got)
	}
	program.kill()
	clean(true, "when both are gone")
}

// needVersion2 leaves a test to the guest, see TestVersion2PassesTheSameTestsInAGuest.
func needVersion2(t *testing.T) {
	t.Helper()
	if detect(t).Version != 2 {
		t.Skip("runs in the guest")
	}
	hwtest.Need(t, hwtest.Root, hwtest.Cgroup)
}

func TestVersion2MakesItBesideOurOwnCgroup(t *testing.T) {
	needVersion2(t)
	own := mkdir(t, detect(t).Mount, "own", 0)
	maker := startHelper(t, 0)
	move(t, own, maker)
	path := maker.ask("create")
	if filepath.Dir(path) != "/" || maker.ask("where") != "/own" {
		t.Errorf("made %s, maker in %s", path, maker.ask("where"))
	}
	if got := maker.ask("remove"); got != "done" {
		t.Error(got)
	}
}

func TestVersion2StaysWithinTheLimitOfOurOwnCgroup(t *testing.T) {
	needVersion2(t)
	own := mkdir(t, detect(t).Mount, "limited", 0)
	if err := os.WriteFile(filepath.Join(own, "memory.max"), []byte("268435456"), 0); err != nil {
		t.Fatal(err)
	}
	maker, other := startHelper(t, 0), startHelper(t, 0)
	move(t, own, maker, other)
	if got := maker.ask("create"); !strings.Contains(got, "would leave the 256 MiB limit of /limited") {
		t.Errorf("without a limit: %s", got)
	}
	if path := maker.ask("create", 64<<20); filepath.Dir(path) != "/" {
		t.Errorf("with a smaller one: %s", path)
	}
	if got := maker.ask("remove"); got != "done" {
		t.Error(got)
	}
}

func TestAUserMakesItBesideTheirOwnWithinADelegatedSubtree(t *testing.T) {
	needVersion2(t)
	delegated := mkdir(t, detect(t).Mount, "delegated", nobody)
	own := mkdir(t, delegated, "own", nobody)
	maker, program := startHelper(t, nobody), startHelper(t, nobody)
	move(t, own, maker, program)
	path := maker.ask("create", 64<<20)
	if filepath.Dir(path) != "/delegated" {
		t.Fatalf("made %s", path)
	}
	if got := maker.ask("add", program.Process.Pid); got != "done" {
		t.Fatal(got)
	}
	if got := program.ask("touch", 128<<20); got != "" {
		t.Errorf("the program touched twice its limit: %s", got)
	}
	if got := maker.ask("remove"); got != "done" {
		t.Error(got)
	}
}

func TestAUserAloneInADelegatedCgroupMovesIntoALeafAndBack(t *testing.T) {
	needVersion2(t)
	own := mkdir(t, detect(t).Mount, "alone", nobody)
	maker, other := startHelper(t, nobody), startHelper(t, nobody)
	move(t, own, maker, other)
	if got := maker.ask("create"); !strings.Contains(got, "a cgroup with processes cannot share") {
		t.Fatalf("not alone: %s", got)
	}
	if got := maker.ask("where"); got != "/alone" {
		t.Errorf("not alone, the maker moved to %s", got)
	}
	other.kill()
	path := maker.ask("create", 64<<20)
	if filepath.Dir(path) != "/alone" {
		t.Fatalf("made %s", path)
	}
	if got := maker.ask("where"); filepath.Dir(got) != "/alone" || !strings.HasSuffix(got, "-watcher") {
		t.Errorf("the maker is in %s", got)
	}
	if got := maker.ask("remove"); got != "done" {
		t.Fatal(got)
	}
	if got := maker.ask("where"); got != "/alone" {
		t.Errorf("afterwards the maker is in %s", got)
	}
}

func TestWhatAKilledMakerInALeafLeavesIsUndone(t *testing.T) {
	needVersion2(t)
	h := detect(t)
	own := mkdir(t, h.Mount, "alone", nobody)
	maker := startHelper(t, nobody)
	move(t, own, maker)
	made, leaf := maker.ask("create"), maker.ask("where")
	maker.kill()
	if removed, err := h.CleanStale(); err != nil || slices.Contains(removed, made) || slices.Contains(removed, leaf) {
		t.Errorf("root removed %v of another user, %v", removed, err)
	}
	removed := strings.Fields(startHelper(t, nobody).ask("clean"))
	if !slices.Contains(removed, made) || !slices.Contains(removed, leaf) {
		t.Errorf("CleanStale removed %v; want %s and %s", removed, made, leaf)
	}
	move(t, own, startHelper(t, nobody)) // which a cgroup that shares memory out refuses
}

// mkdir makes a cgroup of version 2 for the time of the test and hands it to a
// user as a service manager would: the directory and the two files that the
// kernel names for it (cgroup-v2.rst, "Model of Delegation").
func mkdir(t *testing.T, parent, name string, uid int) string {
	t.Helper()
	dir := filepath.Join(parent, name)
	// The parent has no processes, or is the root.
	if err := os.WriteFile(filepath.Join(parent, "cgroup.subtree_control"), []byte("+memory"), 0); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.Remove(dir); err != nil {
			t.Error(err)
		}
	})
	for _, f := range []string{".", "cgroup.procs", "cgroup.subtree_control"} {
		if err := os.Chown(filepath.Join(dir, f), uid, uid); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// move moves helpers into a cgroup. Those killed leave it before it is removed.
func move(t *testing.T, dir string, helpers ...*helper) {
	t.Helper()
	c, err := detect(t).Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, p := range helpers {
		if err := c.Add(p.Process.Pid); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.kill)
	}
}
