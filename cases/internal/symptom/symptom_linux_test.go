package symptom

import (
	"context"
	"errors"
	"log"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/highwater-go/highwater/cases/internal/need"
	"github.com/highwater-go/highwater/cases/internal/probe"
)

// TestMain is the program under measurement, too: Start runs this binary again
// with "-debug ADDRESS READY BYTES".
func TestMain(m *testing.M) {
	if len(os.Args) == 5 && os.Args[1] == "-debug" {
		if err := hold(os.Args[2], os.Args[3], os.Args[4]); err != nil {
			log.Fatal(err)
		}
		return
	}
	os.Exit(m.Run())
}

var kept []byte

// hold fills memory, then listens until it is asked to end.
func hold(debug, ready, much string) error {
	if much == "mute" {
		return outlive(ready)
	}
	if err := probe.Start(context.Background(), debug); err != nil {
		return err
	}
	switch much {
	case "some":
		kept = fill(40 << 20)
	case "much":
		kept = fill(400 << 20)
	case "file":
		return readForEver(ready)
	}
	if _, err := net.Listen("tcp", ready); err != nil {
		return err
	}
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM)
	<-asked
	return nil
}

// outlive answers no question and stays when a copy of it, with more memory
// than the limit has room for, was killed.
func outlive(ready string) error {
	copied := exec.Command(os.Args[0], "-debug", "127.0.0.1:0", "127.0.0.1:0", "much")
	if err := copied.Run(); err == nil {
		return errors.New("it was not killed")
	}
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM)
	if _, err := net.Listen("tcp", ready); err != nil {
		return err
	}
	<-asked
	return nil
}

// readForEver is at its limit by pages of a file that it needs, but may not
// hold: it maps 64 MiB and reads them in turn.
func readForEver(name string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer os.Remove(name)
	const size = 64 << 20
	if err := f.Truncate(size); err != nil {
		return err
	}
	b, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return err
	}
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM)
	for at := 0; len(asked) == 0; at = (at + 4096) % size {
		kept = append(kept[:0], b[at])
	}
	return nil
}

func fill(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = 1
	}
	return b
}

func TestAProgramsMemoryIsSeenByKernelRuntimeAndProfile(t *testing.T) {
	p, ready := begin(t, "some", Options{EveryAllocation: true})
	if err := p.WaitFor(ready); err != nil {
		t.Fatal(err)
	}
	f, err := p.Stop()
	if err != nil {
		t.Fatal(err)
	}
	const most = 80 << 20
	if f.Peak < 40<<20 || f.Anon < 40<<20 { // a race detector adds to both
		t.Errorf("the cgroup's peak is %d bytes, %d of them anonymous, want 40 MiB", f.Peak, f.Anon)
	}
	for name, n := range map[string]uint64{"resident": f.HeapResident, "live": f.Live, "reserved": f.Reserved, "allocated": f.Allocated} {
		if n < 40<<20 || n > most {
			t.Errorf("%s is %d bytes, want 40 to 80 MiB", name, n)
		}
	}
	if f.Killed || f.LimitHits != 0 {
		t.Errorf("killed %t, %d hits without a limit", f.Killed, f.LimitHits)
	}
	for _, kind := range []string{"inuse_space", "alloc_space"} {
		sites := Sites(f.Last, kind)
		if len(sites) == 0 || !strings.HasSuffix(sites[0].Function, "symptom.fill") || sites[0].Bytes < 40<<20 || sites[0].Share < 0.9 {
			t.Errorf("%s: %+v, want fill with 40 MiB first", kind, sites[:min(1, len(sites))])
		}
	}
}

func TestAProgramOverItsLimitIsKilled(t *testing.T) {
	p, _ := begin(t, "much", Options{Limit: 100 << 20})
	<-p.Ended()
	f, err := p.Stop()
	if err != nil {
		t.Fatal(err)
	}
	if !f.Killed || f.LimitHits == 0 || f.Peak > 101<<20 {
		t.Errorf("%+v: want a kill at 100 MiB", f)
	}
	if err := p.WaitFor("127.0.0.1:1"); err == nil || f.Took > time.Minute {
		t.Errorf("waiting for a killed program: %v after %s", err, f.Took)
	}
}

// Between the kill and the end of the process nobody answers.
func TestAKilledProgramNeedNotAnswer(t *testing.T) {
	p, ready := begin(t, "mute", Options{Limit: 100 << 20})
	if err := p.WaitFor(ready); err != nil {
		t.Fatal(err)
	}
	f, err := p.Stop()
	if err != nil || !f.Killed {
		t.Errorf("killed %t, %v", f.Killed, err)
	}
}

func TestALivelockIsToldFromAKillAndFromAProgramThatOnlyWaits(t *testing.T) {
	for much, want := range map[string]Outcome{"file": Livelock, "much": Killed, "some": Stuck} {
		p, ready := begin(t, much, Options{Limit: 60 << 20}) // some fit
		switch much {
		case "file":
			waitFor(t, p, func() bool { return p.group.refaults() > 60<<20/pageSize })
		case "much":
			<-p.Ended()
		case "some":
			if err := p.WaitFor(ready); err != nil {
				t.Fatal(err)
			}
		}
		f, err := p.Stop()
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Outcome(false); got != want {
			t.Errorf("%s: %s, want %s: the limit was met %d times, %d pages were read again", much, got, want, f.LimitHits, f.Refaults)
		}
		if f.Killed == (want != Killed) || want == Livelock && f.LimitHits == 0 {
			t.Errorf("%s: %+v", much, f)
		}
	}
}

// waitFor returns when something holds of a program that goes on.
func waitFor(t *testing.T, p *Program, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	late := time.After(2 * time.Minute)
	for !holds() {
		select {
		case <-p.Ended():
			t.Fatalf("it ended: %v", p.exit)
		case <-late:
			t.Fatal("it did not come to that")
		case <-tick.C:
		}
	}
}

// The code of a program that runs already is charged to somebody else.
func TestAColdProgramPaysForItsOwnCode(t *testing.T) {
	charged := map[bool]uint64{}
	for _, cold := range []bool{false, true} {
		p, ready := begin(t, "some", Options{Cold: cold})
		if err := p.WaitFor(ready); err != nil {
			t.Fatal(err)
		}
		f, err := p.Stop()
		if err != nil {
			t.Fatal(err)
		}
		charged[cold] = f.FileAtEnd
	}
	if charged[true] < charged[false]+1<<20 {
		t.Errorf("%d bytes of files are charged to a cold program, %d to a warm one", charged[true], charged[false])
	}
}

// begin starts this binary as the program under measurement.
func begin(t *testing.T, much string, o Options) (*Program, string) {
	t.Helper()
	ready, err := FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	o.Path, o.Args, o.Dir = os.Args[0], []string{ready, much}, t.TempDir()
	p, err := Start(o)
	need.Permission(t, err)
	return p, ready
}
