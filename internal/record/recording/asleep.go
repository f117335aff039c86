package recording

import (
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// A recording of one program among many is asleep while that rests: its file stays as it is,
// and locked, and the connection to SQLite is closed, which takes four descriptors and some
// 150 KiB. What is written next wakes it.
const (
	// sleepSync bounds how long a point waits that says nothing new, and sleepSpread is by how
	// much less that is for some, so that a hundred do not wake together.
	sleepSync   = 5 * time.Minute
	sleepSpread = time.Minute
	// sleepAfter is how long nothing was written before it falls asleep: to do so after each
	// moment of a rest's beginning cost more than it saved.
	sleepAfter = time.Minute
	// sleepAgain is that of one which slept before: to open it was paid for, and it falls asleep
	// once more in any case before the next collection of a program at rest, which Go forces each
	// two minutes.
	sleepAgain = 15 * time.Second
	// mostHeldAtRest bounds the points that wait meanwhile, each some KiB. A server that allocates
	// a little has a row every few seconds.
	mostHeldAtRest = 64
)

// fallAsleep has a place for each Writer of this process that does. All are looked at at the
// same instant of a second, so that with one place one fell asleep a second, and a hundred programs
// of which each collects every two minutes woke as many.
var fallAsleep = make(chan struct{}, 4)

// sleeper is the sleep of a Writer.
type sleeper struct {
	sync   time.Duration // sleepSync, or less; 0: it does not sleep
	asleep bool
	slept  bool         // it did before
	woken  time.Time    // when it last was
	most   sample.Bytes // bound of the file, which SQLite forgets with the connection; 0: none
}

// SleepAtRest has a recording sleep while its program rests. A killed writer then loses up to
// five minutes that say nothing new, and a reader sees them later.
func (w *Writer) SleepAtRest() {
	if w.sleeper.sync == 0 {
		w.sleeper.sync = sleepSync - rand.N(sleepSpread)
	}
}

// syncAtRest bounds how long a point waits that says nothing new, should nobody call Flush.
func (w *Writer) syncAtRest() time.Duration {
	if w.sleeper.sync > 0 {
		return w.sleeper.sync
	}
	return restSync
}

// canWait says whether a Flush has nothing to do but to write points of a rest, of which little
// or nothing is new. They wait also while the recording is awake: a commit each half minute would
// keep it so for ever.
func (w *Writer) canWait() bool {
	return w.sleeper.sync > 0 && !w.moved && w.queued < mostHeldAtRest && !w.begun && time.Since(w.lastSync) < w.sleeper.sync
}

// pointsWait says whether the points that were given may wait for their commit.
func (w *Writer) pointsWait() bool {
	return w.canWait() || w.queued < maxHeld && time.Since(w.lastSync) < commitEvery
}

// sleepy is how long nothing was written before it falls asleep.
func (s *sleeper) sleepy() time.Duration {
	if s.slept {
		return sleepAgain
	}
	return sleepAfter
}

// calm falls asleep where nothing was written for a while.
func (w *Writer) calm() error {
	s := &w.sleeper
	after := s.sleepy()
	if s.sync == 0 || s.asleep || time.Since(s.woken) < after || time.Since(w.committed) < after && !w.begun {
		return nil
	}
	if w.moved || w.begun {
		return w.commitHeld()
	}
	return w.sleep()
}

// commitHeld writes what waits, but for the point that says nothing new.
func (w *Writer) commitHeld() error {
	if err := w.writeQueue(); err != nil {
		return err
	}
	return w.commit()
}

// sleep closes the connection. What is in the log goes into the file; the log stays, as the
// lock and the room for the last words are its. It waits for the disk, and holds a thread of
// ours: a few do so at a time, and the others at their next looks.
func (w *Writer) sleep() error {
	select {
	case fallAsleep <- struct{}{}:
		defer func() { <-fallAsleep }()
	default:
		return nil
	}
	keeps, ok := w.db.conn.(interface {
		FileControlPersistWAL(db string, mode int) (int, error)
	})
	if !ok {
		return nil
	}
	if _, err := keeps.FileControlPersistWAL("main", 1); err != nil {
		return err
	}
	w.closeStatements()
	if err := w.db.close(); err != nil {
		return err
	}
	w.db, w.sleeper.asleep, w.sleeper.slept = &database{}, true, true
	return nil
}

// wake opens the connection again.
func (w *Writer) wake() error {
	s := &w.sleeper
	if !s.asleep {
		return nil
	}
	db, err := openDatabase(w.path, "mode=rw", writing...)
	if err != nil {
		return err
	}
	w.db, s.asleep, s.woken = db, false, time.Now()
	if s.most > 0 {
		if err := w.bound(s.most); err != nil {
			return err
		}
	}
	return w.relock()
}

// relock locks the log again where somebody has taken it away meanwhile, as another program
// does that closes the file last.
func (w *Writer) relock() error {
	now, err := os.Stat(w.path + "-wal")
	if had, failed := w.lock.Stat(); err == nil && failed == nil && os.SameFile(now, had) {
		return nil
	}
	w.lock.Close()
	w.lock, err = lock(w.path + "-wal")
	return err
}

// bound has SQLite refuse more pages.
func (w *Writer) bound(n sample.Bytes) error {
	return w.db.exec(fmt.Sprintf("PRAGMA max_page_count = %d", max(n/4096, 1)))
}
