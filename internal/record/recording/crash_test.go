package recording

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// writerEnv makes the test binary a writer that flushes without end, and says after
// each flush how many points are safe.
const writerEnv = "HIGHWATER_TEST_WRITER"

func TestMain(m *testing.M) {
	if path := os.Getenv(writerEnv); path != "" {
		err := writeForever(path)
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func writeForever(path string) error {
	w, err := Create(path, meta)
	if err != nil {
		return err
	}
	if err := w.Sites(server, 0, makeSites(50)); err != nil {
		return err
	}
	for i := 0; ; i++ {
		err := errors.Join(w.Point(makePoint(i)), w.Moment(makeMoment(i, profile(i, make([]sample.BucketCounts, 50)), makeSites(5))), w.Flush())
		if err != nil {
			return err
		}
		fmt.Println(i + 1)
	}
}

// startWriter starts one and returns what it says.
func startWriter(t *testing.T, path string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	hwtest.Slow(t, "kills a program")
	exe, err := os.Executable()
	must(t, err)
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), writerEnv+"="+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return cmd, bufio.NewScanner(out)
}

func TestAKilledWriterLosesNothingThatWasFlushed(t *testing.T) {
	for round := range 10 {
		path := filepath.Join(t.TempDir(), "killed.hwm")
		cmd, says := startWriter(t, path)
		acknowledged := 0
		for says.Scan() {
			n, err := strconv.Atoi(says.Text())
			must(t, err)
			acknowledged = n
			if n == 20+37*round {
				must(t, cmd.Process.Kill())
			}
		}
		cmd.Wait()
		before := state(t, path)
		if len(before) < 2 {
			t.Fatalf("round %d: no WAL is left, files %d", round, len(before))
		}
		r := open(t, path)
		if _, closed := r.Closed(); closed || r.Live() || r.Damage() != nil {
			t.Errorf("round %d: closed %v, live %v, damage %v", round, closed, r.Live(), r.Damage())
		}
		i := 0
		must(t, r.Points(func(p *sample.Point) error {
			equal(t, "point", p, makePoint(i))
			i++
			return nil
		}))
		moments, err := r.Moments()
		must(t, err)
		if i < acknowledged || len(moments) < acknowledged {
			t.Errorf("round %d: %d points and %d moments of %d acknowledged", round, i, len(moments), acknowledged)
		}
		must(t, r.Close())
		if err := Verify(path); !errors.Is(err, ErrUnfinished) {
			t.Errorf("round %d: %v", round, err)
		}
		equal(t, "files", state(t, path), before)
	}
}

func TestAWriterInAnotherProcessIsFollowed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "live.hwm")
	cmd, says := startWriter(t, path)
	read := func() int {
		says.Scan()
		n, err := strconv.Atoi(says.Text())
		must(t, err)
		return n
	}
	read()
	r := open(t, path)
	for range 30 {
		n := read()
		must(t, r.Refresh())
		s, err := r.Samples(ColUsage)
		must(t, err)
		if s.Len() < n || !r.Live() {
			t.Fatalf("%d of %d points, live %v", s.Len(), n, r.Live())
		}
	}
	must(t, cmd.Process.Kill())
	for says.Scan() {
	}
	cmd.Wait()
	must(t, r.Refresh())
	if r.Live() {
		t.Error("live after the kill")
	}
	if _, err := r.Samples(ColUsage); err != nil {
		t.Error(err)
	}
}

// fill writes until an error comes, and returns it with the number of points that
// were flushed before.
func fill(t *testing.T, w *Writer) (int, error) {
	t.Helper()
	for i := range 200000 {
		if err := errors.Join(w.Point(makePoint(i)), w.Flush()); err != nil {
			return i, err
		}
	}
	t.Fatal("the disk never filled")
	return 0, nil
}

func checkFull(t *testing.T, w *Writer, path string, flushed int, err error) {
	t.Helper()
	if !strings.Contains(err.Error(), path) || errors.Is(err, ErrClosed) {
		t.Errorf("the error is %v", err)
	}
	for _, again := range []error{w.Point(makePoint(1)), w.Flush(), w.Event(sample.Event{}), w.SetMeta("a", "b")} {
		if !errors.Is(again, ErrClosed) {
			t.Errorf("afterwards: %v", again)
		}
	}
	if err := w.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	r := open(t, path)
	s, err := r.Samples()
	must(t, err)
	if _, closed := r.Closed(); s.Len() != flushed || closed || r.Damage() != nil {
		t.Errorf("%d points of %d, closed %v, damage %v", s.Len(), flushed, closed, r.Damage())
	}
	if err := Verify(path); !errors.Is(err, ErrUnfinished) {
		t.Error(err)
	}
}

func TestAFullDiskEndsTheRecordingOnce(t *testing.T) {
	w, path := create(t, meta)
	must(t, w.db.exec("PRAGMA max_page_count = 60")) // SQLITE_FULL, as on a full disk
	n, err := fill(t, w)
	checkFull(t, w, path, n, err)
}
