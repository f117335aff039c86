package main

import (
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"
)

func TestWhatViewcoreCallsLiveIsFoundInItsTable(t *testing.T) {
	const table = ` all                  1547182080 100.00%
   heap                114311168   7.39%
     in use spans      108601344   7.02%
       alloc           103435040   6.69%
         live           96718416   6.25%
         garbage         6716624   0.43%
`
	if live, err := liveIn([]byte(table)); err != nil || live != 96718416 {
		t.Errorf("%d, %v", live, err)
	}
	if live, err := liveIn([]byte("all  12 100%\n live\n")); err == nil {
		t.Errorf("a table without the figure has %d", live)
	}
}

func TestACommandThatTakesTooLongIsEndedWithWhatItStarted(t *testing.T) {
	// The command's child has its output open, for which Wait waits, too.
	_, err := run(50*time.Millisecond, "sh", "-c", "sleep 1000; true")
	if err == nil || !strings.Contains(err.Error(), "not done after 50ms") {
		t.Errorf("%v", err)
	}
}

func TestACommandThatFailsSaysItsLastLine(t *testing.T) {
	_, err := run(time.Minute, "sh", "-c", "echo first >&2; echo no such process >&2; exit 3")
	if err == nil || err.Error() != "exit status 3: no such process" {
		t.Errorf("%v", err)
	}
}

func TestTheDocumentNamesTheFloorsThatAreMissed(t *testing.T) {
	compared, kept, missed := row{What: "other", Pass: true}, row{What: "quick", Floor: "1 s", Pass: true}, row{What: "small", Floor: "1 GB"}
	for _, c := range []struct {
		rows []row
		want string
	}{
		{[]row{compared, kept}, "all 1 floors are kept"},
		{[]row{compared, kept, missed}, "1 of 2 floors are missed: small"},
	} {
		if got := floors(c.rows); !strings.HasPrefix(got, c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestTheLargestOfAllIsComparedWithTheSmallest(t *testing.T) {
	var s span
	for _, v := range []float64{3, 2, 5, 4} {
		s.add(v)
	}
	if s.ratio() != 2.5 {
		t.Errorf("%v", s)
	}
}

func TestAToolThatIsNotThereIsNoFailureOfIt(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, _, err := installed("grf"); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("%v", err)
	}
}
