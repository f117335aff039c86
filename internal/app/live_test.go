package app

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/words/visible"
)

// drawing is streams whose standard error is a terminal, as far as the live line knows.
func drawing() (s *Streams, screen *bytes.Buffer) {
	screen = new(bytes.Buffer)
	s = NewStreams(nil, screen, screen)
	s.Live.terminal = true
	return s, screen
}

func TestWhatTakesLongSaysSoAndLeavesNothing(t *testing.T) {
	s, screen := drawing()
	w := &Watchman{What: "explain", live: s.Live}
	w.tell(slow - 1)
	if screen.Len() > 0 {
		t.Fatalf("at once it says %q", screen)
	}
	w.tell(3 * time.Second)
	w.tell(3*time.Second + lookEvery) // the same text is not drawn again
	if got := screen.String(); got != eraseLine+"highwater explain: working for 3 s" {
		t.Fatalf("after three seconds it says %q", got)
	}
	visible.Fprintf(s.Err, "a warning\n")
	w.tell(4 * time.Second)
	_, _ = io.WriteString(s.Out, "the answer\n")
	w.tell(5 * time.Second)
	want := eraseLine + "highwater explain: working for 3 s" + eraseLine + "a warning\n" +
		eraseLine + "highwater explain: working for 4 s" + eraseLine + "the answer\n"
	if got := screen.String(); got != want {
		t.Errorf("the terminal got\n%q, want\n%q", got, want)
	}
}

func TestTheLiveLineIsNoWiderThanItsTerminal(t *testing.T) {
	s, screen := drawing()
	s.Live.draw(strings.Repeat("é", 300))
	if got := len([]rune(strings.TrimPrefix(screen.String(), eraseLine))); got != defaultColumns-1 {
		t.Errorf("%d columns of %d", got, defaultColumns)
	}
}
