package fleet

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// diskOf is a file system of its own, of a few pages. The test is skipped where none can be mounted.
func diskOf(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		if errors.Is(err, syscall.EPERM) {
			t.Skip("mounting a small file system needs root")
		}
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// Others fill the disk: incidents take the place of what is worth less, what is lost is counted,
// and when there is room again it goes on.
func TestOnAFullDiskIncidentsAreKept(t *testing.T) {
	t.Parallel()
	dir := diskOf(t, "128k")
	s := newSpool(t, filepath.Join(dir, "spool"), 1<<30)
	noise := func(i int) string { return fmt.Sprintf("%x", hashOf("noise", fmt.Sprint(i))) }
	full := error(nil)
	points := 0
	for full == nil {
		if full = s.Put(Points, Encode(nil, Point{Service: noise(points)})); full == nil {
			points++
		}
	}
	if !errors.Is(full, syscall.ENOSPC) || s.Stats().Dropped[Points.Name] != 1 || points < 10 {
		t.Fatalf("%d points, then %v, %+v", points, full, s.Stats())
	}
	const kills = 5
	for i := range kills {
		if err := s.Put(Incidents, Encode(nil, Incident{Service: fmt.Sprint("kill", i)})); err != nil {
			t.Fatal(err)
		}
	}
	store := &fickle{take: always(nil)}
	if err := s.Drain(t.Context(), store); err != nil {
		t.Fatal(err)
	}
	if got := store.got[len(store.got)-kills:]; !slices.Equal(got, []string{"kill0", "kill1", "kill2", "kill3", "kill4"}) {
		t.Errorf("the store has %v", store.got)
	}
	if st := s.Stats(); int(st.Dropped[Points.Name])+len(store.got)-kills != points+1 || st.Dropped[Incidents.Name] != 0 || st.Bytes != 0 {
		t.Errorf("of %d points and one more %d were sent, %+v", points, len(store.got)-kills, st)
	}
	keep(t, s, "again")
	if left, _ := filepath.Glob(filepath.Join(dir, "spool", ".highwater-*")); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

// A spool that cannot be written to is said at the start, and while an agent runs costs rows that
// are counted: what is there is sent all the same, once.
func TestASpoolThatBecomesReadOnly(t *testing.T) {
	t.Parallel()
	dir := diskOf(t, "256k")
	path := filepath.Join(dir, "spool")
	s := newSpool(t, path, 1<<20)
	keep(t, s, "a", "b")
	readOnly := func(flag uintptr) {
		t.Helper()
		if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|flag, ""); err != nil {
			t.Fatal(err)
		}
	}
	s.Close()
	readOnly(syscall.MS_RDONLY)
	if _, err := OpenSpool(path, 1<<20); err == nil || !strings.Contains(err.Error(), "read-only") {
		t.Fatalf("at the start: %v", err)
	}
	readOnly(0)
	s = newSpool(t, path, 1<<20)
	readOnly(syscall.MS_RDONLY)
	defer readOnly(0)
	if err := s.Put(Incidents, Encode(nil, Incident{Service: "lost"})); !errors.Is(err, syscall.EROFS) || s.Stats().Dropped[Incidents.Name] != 1 {
		t.Errorf("%v, %+v", err, s.Stats())
	}
	store := &fickle{take: always(nil)}
	for range 2 {
		if err := s.Drain(t.Context(), store); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(store.got, []string{"a", "b"}) || s.Stats().Batches != 0 {
		t.Errorf("the store has %v, %+v", store.got, s.Stats())
	}
	if left, _ := os.ReadDir(path); len(left) == 0 {
		t.Error("the files are gone")
	}
}
