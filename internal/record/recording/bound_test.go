package recording

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

func TestABoundedRecordingEndsBeforeItsBoundAndSaysSo(t *testing.T) {
	const bound = 2 * sample.MiB
	w, path := create(t, meta)
	must(t, w.Bound(bound))
	must(t, w.Program(programs[1]))
	var ended error
	for i := 0; ended == nil && i < 200_000; i++ {
		ended = w.Event(sample.Event{At: start, Kind: sample.EventNote, Process: server, Text: strings.Repeat("x", 1000)})
		if ended == nil && i%100 == 0 {
			ended = w.Flush() // what is not committed is lost
		}
	}
	if !errors.As(ended, new(ErrFull)) {
		t.Fatalf("it ended with %v", ended)
	}
	must(t, w.Close())
	info, err := os.Stat(path)
	must(t, err)
	if n := sample.Bytes(info.Size()); n > bound || n < bound/2 {
		t.Errorf("it has %d bytes, of at most %d", n, bound)
	}
	r := open(t, path)
	events, err := r.Events()
	must(t, err)
	if len(events) < 100 {
		t.Errorf("%d events are left", len(events))
	}
}
