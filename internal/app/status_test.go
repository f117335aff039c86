package app

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// resident is a point of a program that has so much.
func resident(at time.Time, n sample.Bytes) *sample.Point {
	return &sample.Point{At: at, Processes: []sample.Process{{Resident: &sample.Resident{Total: n}}}}
}

func TestLinesThatCanWaitAreSaidOnceTheProgramHasEnded(t *testing.T) {
	var out bytes.Buffer
	s := newStatus(&out)
	s.say("watching it")
	s.hold()
	s.say("it is slow")
	s.say("it is slow")
	s.tell("it did well")
	s.warn("the disk is full")
	if got, want := out.String(), "watching it\nthe disk is full\n"; got != want {
		t.Errorf("while it runs:\n%swant\n%s", got, want)
	}
	s.release()
	s.say("over")
	if got, want := out.String(), "watching it\nthe disk is full\nit is slow\nover\n"; got != want {
		t.Errorf("in all:\n%swant\n%s", got, want)
	}
}

// The live line of two programs that are watched: what the one has is no growth of the other.
func TestGrowthIsThatOfOneProgram(t *testing.T) {
	s := newStatus(&bytes.Buffer{})
	at := time.Unix(1000, 0)
	for i := range 4 {
		s.point("one", resident(at.Add(time.Duration(i)*time.Second), 10*sample.MiB))
	}
	for i := range 4 {
		s.point("other", resident(at.Add(time.Duration(4+i)*time.Second), sample.Bytes(200+2*i)*sample.MiB))
	}
	if got := sample.Bytes(s.growth); got != 2*sample.MiB {
		t.Errorf("growing %d bytes a second, want 2 MiB", got)
	}
	if line := s.line(at.Add(7*time.Second), nil); !strings.Contains(line, "growing 2.0 MiB/s") || !strings.HasPrefix(line, "   3 s") {
		t.Errorf("the line is %q", line)
	}
}

func TestAPipeHasNoLiveLine(t *testing.T) {
	var out bytes.Buffer
	s := newStatus(&out)
	at := time.Unix(1000, 0)
	for i := range 100 {
		s.point("one", resident(at.Add(time.Duration(i)*time.Second), sample.Bytes(i)*sample.MiB))
	}
	if out.Len() > 0 {
		t.Errorf("it says %q", out.String())
	}
}
