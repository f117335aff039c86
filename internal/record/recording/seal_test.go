package recording

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
)

// toldOrAlike says what is wrong with how a changed recording is read: it must be
// refused, or say that it is damaged, or say what the whole one says.
func toldOrAlike(t *testing.T, path string, want map[string][]string) string {
	t.Helper()
	r, err := Open(path)
	if err != nil {
		return ""
	}
	defer r.Close()
	got := listing(t, r)
	if r.Damage() == nil && !reflect.DeepEqual(got, want) {
		return "another story, and no word of it"
	}
	return ""
}

func TestAThousandCutOrFlippedCopiesAreToldOrReadAlike(t *testing.T) {
	hwtest.Slow(t, "opens a thousand damaged recordings")
	b := finished(t, 40)
	want := whole(t, b)
	rng := rand.New(rand.NewPCG(3, 4))
	told := 0
	for i := range 1000 {
		c := append([]byte(nil), b...)
		at := rng.IntN(len(b))
		if i%2 == 0 {
			c = c[:at]
		} else {
			c[at] ^= 1 << rng.IntN(8)
		}
		path := filepath.Join(t.TempDir(), "a.hwm")
		must(t, os.WriteFile(path, c, 0o600))
		if wrong := toldOrAlike(t, path, want); wrong != "" {
			t.Errorf("changed at byte %d of %d: %s", at, len(b), wrong)
		}
		if err := Verify(path); err == nil {
			t.Errorf("changed at byte %d of %d: verified", at, len(b))
		} else if errors.Is(err, ErrDamaged) || strings.Contains(err.Error(), "cut") {
			told++
		}
		must(t, os.Remove(path))
	}
	if told < 990 { // of a cut of a few bytes nothing is left to tell what it was
		t.Errorf("%d of 1000 are named as damaged or cut", told)
	}
}

func TestAChangedPageIsNamedAndEverythingElseIsRead(t *testing.T) {
	b := finished(t, 300)
	b[len(withoutSums(b))*2/3] ^= 4
	path := filepath.Join(t.TempDir(), "a.hwm")
	must(t, os.WriteFile(path, b, 0o600))
	r := open(t, path)
	points := 0
	for _, said := range listing(t, r) {
		points += len(said)
	}
	if err := r.Damage(); points < 100 || !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "has a wrong checksum") {
		t.Errorf("%d things, %v", points, err)
	}
}

// Every program that writes to the file changes its first page, and a bit of it may be
// flipped, too.
func TestAChangedFirstPageIsToldAndTheRestIsRead(t *testing.T) {
	b := finished(t, 50)
	want := whole(t, b)
	path := filepath.Join(t.TempDir(), "a.hwm")
	b[27]++ // the file change counter
	must(t, os.WriteFile(path, b, 0o600))
	r := open(t, path)
	if got := listing(t, r); !reflect.DeepEqual(got, want) {
		t.Error("another story")
	}
	if err := r.Damage(); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "page 1 of ") {
		t.Error(err)
	}
	if err := Verify(path); !errors.Is(err, ErrDamaged) {
		t.Error(err)
	}
}

func TestARecordingWithoutChecksumsIsReadAndSaysSo(t *testing.T) {
	b := finished(t, 30)
	path := filepath.Join(t.TempDir(), "a.hwm")
	must(t, os.WriteFile(path, b, 0o600))
	if c, err := Check(path); err != nil || !c.Protected || c.Pages != int64(len(withoutSums(b))/4096) || c.Rows == 0 {
		t.Errorf("%+v, %v", c, err)
	}
	// As 1.3 wrote it before there were checksums.
	change(t, path, "DELETE FROM meta WHERE key = 'sealed'")
	b, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(path, withoutSums(b), 0o600))
	if c, err := Check(path); err != nil || c.Protected || c.Pages != 0 {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestADamagedLogOfAKilledWriterIsTold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "killed.hwm")
	cmd, says := startWriter(t, path)
	for range 20 {
		says.Scan()
	}
	must(t, cmd.Process.Kill())
	for says.Scan() {
	}
	cmd.Wait()
	wal := path + "-wal"
	must(t, checkWAL(wal))
	b, err := os.ReadFile(wal)
	must(t, err)
	for _, at := range []int{0, 8, 17, 30, 40, walHeader + 3, walHeader + 20, walHeader + 1000, len(b) / 2} {
		c := append([]byte(nil), b...)
		c[at] ^= 16
		must(t, os.WriteFile(wal, c, 0o600))
		if r, err := Open(path); err == nil {
			if damage := r.Damage(); damage == nil || !strings.Contains(damage.Error(), "-wal") {
				t.Errorf("byte %d: %v", at, damage)
			}
			must(t, r.Close())
		}
	}
}
