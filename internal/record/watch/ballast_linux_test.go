package watch

import (
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/lastbreath"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// A scan that runs between the drop and the reading of a kill took the ballast again: a kill by a limit of 60 MiB had
// a ledger of 68.
func TestTheBallastIsNotTakenWhileAKillIsRead(t *testing.T) {
	s := &Source{live: map[int]*process{}, forked: map[int]time.Time{}, ballast: ballast{size: 1 << 20}}
	s.ballast.take()
	s.mu.Lock() // as a scan does
	read := make(chan struct{})
	go func() {
		defer close(read)
		s.onDying(lastbreath.Death{PID: 7, TID: 7, Status: lastbreath.Status{Signal: int(syscall.SIGKILL)}})
	}()
	held := func() bool {
		s.ballast.mu.Lock()
		defer s.ballast.mu.Unlock()
		return s.ballast.held
	}
	for held() {
		runtime.Gosched()
	}
	s.ballast.take()
	if held() {
		t.Error("the ballast is taken again before the kill was read")
	}
	s.mu.Unlock()
	<-read
	if s.ballast.take(); !held() {
		t.Error("no ballast is taken after the kill")
	}
}

func TestTheChargeOfAKillIsAtMostItsLimit(t *testing.T) {
	const mib = sample.MiB
	for name, c := range map[string]struct{ usage, limit, want, ballast sample.Bytes }{
		"nobody took its place":     {52 * mib, 60 * mib, 60 * mib, 8 * mib},
		"another program took some": {57 * mib, 60 * mib, 60 * mib, 3 * mib},
		"all of it":                 {60 * mib, 60 * mib, 60 * mib, 0},
		"the kernel went above":     {61 * mib, 60 * mib, 61 * mib, 0},
		"a limit that is not seen":  {52 * mib, 0, 60 * mib, 8 * mib},
	} {
		a := account{dropped: 8 * mib}
		charge := sample.Cgroup{Usage: c.usage}
		if c.limit > 0 {
			charge.Limit = sample.Some(c.limit)
		}
		if a.withBallast(&charge); charge.Usage != c.want || a.dropped != c.ballast {
			t.Errorf("%s: a charge of %d with %d of ballast, want %d with %d", name, charge.Usage/mib, a.dropped/mib, c.want/mib, c.ballast/mib)
		}
	}
}
