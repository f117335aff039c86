package fleet

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// The store is away for an hour in which a batch comes each minute.
func TestAfterAnHourAwayTheStoreHasAllInOrder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s, err := OpenSpool(dir, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		back := time.Now().Add(time.Hour)
		store := &fickle{}
		store.take = func(int) error {
			if time.Now().Before(back) {
				return errAway
			}
			return nil
		}
		ctx, end := context.WithCancel(t.Context())
		said, well := 0, 0
		go s.Send(ctx, store, func(err error) {
			if err == nil {
				well++
			} else {
				said++
			}
		})
		var want []string
		for i := range 60 {
			want = append(want, fmt.Sprint("minute ", i))
			keep(t, s, want[i])
			time.Sleep(time.Minute) // of the test's clock
		}
		time.Sleep(2 * mostWait)
		end()
		synctest.Wait()
		if !slices.Equal(store.got, want) || s.Stats().Batches != 0 {
			t.Errorf("the store has %d of %d batches: %v", len(store.got), len(want), store.got)
		}
		if said < 10 || said > 60 || well != 1 {
			t.Errorf("it was said %d times in an hour that the store is away, %d times that it is back", said, well)
		}
	})
}

// A password that is wrong is told once a minute, for as long as it is.
func TestAWrongPasswordIsToldOnceAMinute(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s, err := OpenSpool(dir, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		keep(t, s, "a")
		ctx, end := context.WithCancel(t.Context())
		var said []time.Time
		ended := false
		go func() {
			s.Send(ctx, &fickle{take: always(errors.Join(ErrCredentials, errAway))}, func(err error) {
				if errors.Is(err, ErrCredentials) {
					said = append(said, time.Now())
				}
			})
			ended = true
		}()
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if ended || len(said) < 4 || s.Stats().Batches != 1 || s.Stats().Refused != 0 {
			t.Errorf("ended: %v, said at %v, %+v", ended, said, s.Stats())
		}
		for i := 1; i < len(said); i++ {
			if said[i].Sub(said[i-1]) < time.Minute {
				t.Errorf("said at %v and %v", said[i-1], said[i])
			}
		}
		end()
		synctest.Wait()
	})
}

// A store that refuses everything, as behind a proxy that somebody set up wrongly, has nothing
// given up for it.
func TestAStoreThatRefusesAllLosesNothing(t *testing.T) {
	t.Parallel()
	s := newSpool(t, t.TempDir(), 1<<20)
	keep(t, s, "a", "b")
	store := &unwell{fickle{take: always(fmt.Errorf("%w: no such page", ErrRefused))}}
	for range 5 * refusals {
		if err := s.Drain(t.Context(), store); !errors.Is(err, ErrRefused) {
			t.Fatal(err)
		}
	}
	if st := s.Stats(); st.Batches != 2 || st.Refused != 0 {
		t.Errorf("%+v", st)
	}
	store.take = always(nil)
	if err := s.Drain(t.Context(), store); err != nil || !slices.Equal(store.got, []string{"a", "b"}) {
		t.Errorf("%v, the store has %v", err, store.got)
	}
}

type unwell struct{ fickle }

func (*unwell) Check(context.Context) (time.Duration, error) { return 0, ErrRefused }

// An agent is killed as it writes: what it said that it kept is there, in order and whole, and
// nothing of the rest stays in the way.
func TestASpoolOfAnAgentThatWasKilledIsWhole(t *testing.T) {
	if dir := os.Getenv("SPOOL_OF_TEST"); dir != "" {
		s, err := OpenSpool(dir, 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; ; i++ {
			if err := s.Put(Points, Encode(nil, Point{Service: fmt.Sprintf("%06d", i)})); err != nil {
				t.Fatal(err)
			}
			fmt.Printf("kept %06d\n", i)
		}
	}
	t.Parallel()
	dir := t.TempDir()
	next := 0
	for life := range 5 {
		cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), "SPOOL_OF_TEST="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var kept []string
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if name, ok := strings.CutPrefix(lines.Text(), "kept "); ok {
				kept = append(kept, name)
			}
			if len(kept) == 20+7*life {
				_ = cmd.Process.Kill()
			}
		}
		_ = cmd.Wait() // killed
		if err := os.WriteFile(filepath.Join(dir, ".highwater-123.partial"), []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
		s := newSpool(t, dir, 1<<30)
		store := &fickle{take: always(nil)}
		if err := s.Drain(t.Context(), store); err != nil {
			t.Fatal(err)
		}
		s.Close()
		if len(kept) < 20 || len(store.got) < len(kept) || len(store.got) > len(kept)+1 || !slices.Equal(store.got[:len(kept)], kept) || s.Stats().Torn != 0 {
			t.Errorf("kept %v, the store has %v", kept, store.got)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) != 0 {
			t.Errorf("left: %v", left)
		}
		next += len(kept)
	}
	if next < 100 {
		t.Errorf("only %d batches were kept", next)
	}
}
