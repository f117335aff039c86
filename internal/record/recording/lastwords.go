package recording

import (
	"errors"
	"path/filepath"
	"syscall"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// roomAhead is kept behind the log of a recording: for a common commit, and then for
// what is written when the disk is full, a row of gap and one of event and the pages
// above them. A larger commit that fails leaves its own room for these.
const roomAhead = 256 << 10

// keepRoom is the error of a disk that has no more room than was kept. Where room
// cannot be kept, the recording goes on without.
func (w *Writer) keepRoom() error {
	if w.lock == nil {
		return nil
	}
	err := reserve(w.lock, roomAhead)
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return ErrFull{filepath.Dir(w.path)}
	}
	return nil
}

// lastWords says in a recording that ends by a full disk that it does. What was being
// written was rolled back; its room in the log is written again.
func (w *Writer) lastWords(why error) {
	if !errors.As(why, new(ErrFull)) || w.db == nil || w.sleeper.asleep {
		return
	}
	w.begun = false
	since := w.committed
	if since.IsZero() {
		since = w.meta.At
	}
	at, text := w.at(time.Now()), "the disk was full, and the recording ends here: "+why.Error()
	err := w.begin()
	if err == nil {
		_, err = w.add(&tableGap, w.at(since), nil, nil, "everything after this", text)
	}
	if err == nil {
		_, err = w.add(&tableEvent, at, string(sample.EventRecordFull), nil, nil, why.Error())
	}
	if err == nil {
		err = w.run("COMMIT")
	}
	if err != nil { // no room even for that: the recording ends without a word
		_ = w.db.exec("ROLLBACK")
	}
	w.begun = false
}
