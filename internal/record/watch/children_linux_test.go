package watch

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// Of many children that end by themselves some are read at their end, for a share of the time; whatever they hold, the
// largest is.
func TestOfManyChildrenThatEndWellAShareIsRead(t *testing.T) {
	var w wellEnded
	now, took, read := time.Time{}.Add(time.Hour), time.Duration(0), 0
	const each = 60 * time.Millisecond
	for range 2000 {
		w.started++
		now = now.Add(50 * time.Millisecond)
		if !w.skip(now, 40*sample.MiB) {
			now = now.Add(each)
			w.spent(now, each, wellEndedShare, 40*sample.MiB)
			read, took = read+1, took+each
		}
	}
	if read < fewChildren+10 || took > fewChildren*each+110*time.Second/90 {
		t.Errorf("%d of 2000 children read, for %v of 100 s, want the first %d and a hundredth of the time", read, took, fewChildren)
	}
	if w.skip(now, 39*sample.MiB) == w.skip(now, 80*sample.MiB) {
		t.Error("one twice as large as all before is let go as the others are")
	}
}

// A program that starts many others has the ends of those held that are killed or fail.
func TestOfManyChildrenEachDeathIsHeld(t *testing.T) {
	k := &kept{}
	quick, crash := testprog(t, "quick"), testprog(t, "steady")
	run(t, Options{}, k, "sh", "-c", "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do "+quick+"; done; "+
		crash+" -for 30s -live 20MiB & sleep 1.5; kill -9 $!; wait $!; for i in 1 2 3; do "+quick+"; done; "+crash+" -no-such-flag; true")
	for _, p := range k.named("steady") {
		if d := k.death(p.Key); d == nil || d.Signal == 0 && d.ExitCode.V == 0 {
			t.Errorf("the end of %v was not read: %+v", p.Key, d)
		} else if d.Signal != 0 && d.Live == nil {
			t.Error("what was live in the one that was killed was not marked")
		}
	}
	if n := len(k.named("steady")); n != 2 {
		t.Fatalf("%d programs called steady, want 2", n)
	}
	read := 0
	for _, p := range k.named("quick") {
		if k.death(p.Key) != nil {
			read++
		}
	}
	if all := len(k.named("quick")); read < fewChildren || read == all {
		t.Errorf("%d of %d that ended well were read, want the first %d and not all", read, all, fewChildren)
	}
	if !strings.Contains(k.gapText(), "the memory of each child at its end") {
		t.Errorf("nothing says that not all were read: %s", k.gapText())
	}
}

// A child that is seen before its execve is one child, on a busy machine too: the first of many are read by that count.
func TestAChildThatIsSeenBeforeItsExecveIsOne(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "go on")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	to, err := os.OpenFile(pipe, os.O_RDWR, 0) // for both ends: it waits for nobody
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	k := &kept{}
	var source *Source
	var all sync.WaitGroup
	defer all.Wait()
	runWith(t, Options{}, k, func(s *Source) {
		source = s
		all.Go(func() {
			for seen := false; !seen && t.Context().Err() == nil; runtime.Gosched() {
				s.mu.Lock()
				seen = len(s.live) == 2
				s.mu.Unlock()
			}
			_, _ = to.WriteString("now\n")
		})
	}, "sh", "-c", `(read x < "`+pipe+`"; exec `+testprog(t, "quick")+`); true`)
	source.mu.Lock()
	started := source.wellEnded.started
	source.mu.Unlock()
	if n := len(k.named("quick")); n != 1 || started != 1 {
		t.Errorf("%d programs called quick, and %d children are counted, want one", n, started)
	}
}
