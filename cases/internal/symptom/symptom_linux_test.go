package symptom

import (
	"log"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

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
	if _, err := probe.Serve(debug); err != nil {
		return err
	}
	kept = fill(map[string]int{"some": 40 << 20, "much": 400 << 20}[much])
	if _, err := net.Listen("tcp", ready); err != nil {
		return err
	}
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM)
	<-asked
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
	p, ready := begin(t, "some", 0)
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
	p, _ := begin(t, "much", 100<<20)
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

// begin starts this binary as the program under measurement.
func begin(t *testing.T, much string, limit uint64) (*Program, string) {
	t.Helper()
	if _, _, err := ownGroup(); err != nil {
		t.Skip(err)
	}
	ready, err := FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	p, err := Start(Options{Path: os.Args[0], Args: []string{ready, much}, Limit: limit, EveryAllocation: limit == 0})
	if err != nil {
		if os.IsPermission(err) {
			t.Skip(err)
		}
		t.Fatal(err)
	}
	return p, ready
}
