package fleet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// fickle is a store that takes what it is told to, and remembers all that it took.
type fickle struct {
	take func(n int) error // of the n-th call
	n    int
	got  []string // services of the rows that it took, in order
}

func (f *fickle) Init(context.Context) error                   { return nil }
func (f *fickle) Statements() []string                         { return nil }
func (f *fickle) Close() error                                 { return nil }
func (f *fickle) Check(context.Context) (time.Duration, error) { return 0, nil }

func (f *fickle) ask(context.Context, query, reflect.Type) ([]byte, error) { return nil, nil }

func (f *fickle) Put(_ context.Context, t *Table, rows []byte) error {
	f.n++
	if err := f.take(f.n); err != nil {
		return err
	}
	return each(rows, t.row, func(row reflect.Value) error {
		f.got = append(f.got, row.FieldByName("Service").String())
		return nil
	})
}

var errAway = errors.New("the store is away")

func always(err error) func(int) error { return func(int) error { return err } }

func newSpool(t *testing.T, dir string, most int64) *Spool {
	t.Helper()
	s, err := OpenSpool(dir, most)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func keep(t *testing.T, s *Spool, names ...string) {
	t.Helper()
	for _, name := range names {
		if err := s.Put(Points, Encode(nil, Point{Service: name})); err != nil {
			t.Fatal(err)
		}
	}
}

func TestNothingIsLostWhileTheStoreIsAway(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := newSpool(t, dir, 1<<20)
	store := &fickle{take: always(errAway)}
	keep(t, s, "a", "b", "c")
	if err := s.Drain(t.Context(), store); !errors.Is(err, errAway) {
		t.Fatal(err)
	}
	if st := s.Stats(); st.Batches != 3 || st.Oldest.IsZero() || st.Sent != 0 {
		t.Errorf("%+v", st)
	}
	s.Close() // the agent is killed, another begins
	s = newSpool(t, dir, 1<<20)
	keep(t, s, "d")
	store.take = always(nil)
	if err := s.Drain(t.Context(), store); err != nil {
		t.Fatal(err)
	}
	if want := []string{"a", "b", "c", "d"}; !slices.Equal(store.got, want) {
		t.Errorf("the store has %v", store.got)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.rows")); len(left) != 0 || s.Stats().Bytes != 0 {
		t.Errorf("left: %v, %+v", left, s.Stats())
	}
}

func TestABatchThatIsRefusedDoesNotHoldUpTheNext(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := newSpool(t, dir, 1<<20)
	keep(t, s, "bad", "good")
	store := &fickle{}
	store.take = func(n int) error {
		if len(store.got) == 0 && s.Stats().Refused == 0 {
			return fmt.Errorf("%w: it cannot be parsed", ErrRefused)
		}
		return nil
	}
	for i := range refusals - 1 {
		if err := s.Drain(t.Context(), store); !errors.Is(err, ErrRefused) {
			t.Fatalf("try %d: %v", i, err)
		}
	}
	if err := s.Drain(t.Context(), store); err != nil {
		t.Fatal(err)
	}
	aside, _ := filepath.Glob(filepath.Join(dir, "refused", "*.rows"))
	if !slices.Equal(store.got, []string{"good"}) || len(aside) != 1 || s.Stats().Refused != 1 {
		t.Errorf("the store has %v, aside %v, %+v", store.got, aside, s.Stats())
	}
}

func TestAFullSpoolDropsWhatIsWorthLeast(t *testing.T) {
	t.Parallel()
	s := newSpool(t, t.TempDir(), 1200)
	unique := func(i int) string { return fmt.Sprintf("%x", hashOf("name", fmt.Sprint(i))) }
	for i := range 4 {
		for _, err := range []error{
			s.Put(HeapHours, Encode(nil, HeapHour{Service: unique(i)}, HeapHour{Service: unique(-i)})),
			s.Put(Incidents, Encode(nil, Incident{Service: fmt.Sprint("kill", i), Sentence: unique(i)})),
		} {
			if err != nil && !errors.Is(err, ErrSpoolFull) {
				t.Fatal(err)
			}
		}
	}
	for i := range 40 {
		if err := s.Put(Points, Encode(nil, Point{Service: unique(i)})); err != nil && !errors.Is(err, ErrSpoolFull) {
			t.Fatal(err)
		}
	}
	st := s.Stats()
	if st.Bytes > 1200 || st.Dropped["heap_hour"] != 8 || st.Dropped["incident"] != 0 || st.Dropped["point"] == 0 {
		t.Errorf("%+v", st)
	}
	store := &fickle{take: always(nil)}
	if err := s.Drain(t.Context(), store); err != nil {
		t.Fatal(err)
	}
	kills := slices.DeleteFunc(store.got, func(name string) bool { return !strings.HasPrefix(name, "kill") })
	if !slices.Equal(kills, []string{"kill0", "kill1", "kill2", "kill3"}) {
		t.Errorf("of the incidents the store has %v", kills)
	}
}

func TestATornBatchIsPutAside(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := newSpool(t, dir, 1<<20)
	keep(t, s, "torn", "whole")
	s.Close()
	files, _ := filepath.Glob(filepath.Join(dir, "*.rows"))
	if err := os.Truncate(files[0], 10); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"00000000000000000009.later.rows": "of a newer version", ".highwater-1.partial": "of an agent that was killed",
		"README": "somebody's"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s = newSpool(t, dir, 1<<20)
	store := &fickle{take: always(nil)}
	if err := s.Drain(t.Context(), store); err != nil || !slices.Equal(store.got, []string{"whole"}) {
		t.Errorf("the store has %v, %v", store.got, err)
	}
	if aside, _ := filepath.Glob(filepath.Join(dir, "refused", "*.rows")); len(aside) != 2 || s.Stats().Torn != 2 {
		t.Errorf("aside: %v, %+v", aside, s.Stats())
	}
	if _, err := os.Stat(filepath.Join(dir, "README")); err != nil {
		t.Error(err)
	}
}

func TestASpoolIsForOneAgent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := newSpool(t, dir, 1<<20)
	if _, err := OpenSpool(dir, 1<<20); !errors.Is(err, ErrInUse) {
		t.Error(err)
	}
	first.Close()
	newSpool(t, dir, 1<<20)
}
