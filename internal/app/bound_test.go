package app

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// refused is why a watchman ended something, and fails where that is no refusal.
func refused(t *testing.T, err error) string {
	t.Helper()
	var e *ExitError
	if !errors.As(err, &e) || e.Code != ExitFailed || e.Hint == "" {
		t.Fatalf("%v", err)
	}
	return err.Error()
}

// spin works until it is told to end.
func spin(end <-chan struct{}) error {
	for {
		select {
		case <-end:
			return nil
		//lint:ignore SA5004 it spins on purpose, to use up a processor
		default:
		}
	}
}

func TestWhatNeedsMoreTimeThanItMayIsEnded(t *testing.T) {
	end := make(chan struct{})
	defer close(end)
	err := (&Watchman{What: "explain", Long: 30 * time.Millisecond}).Run(func() error { return spin(end) })
	if why := refused(t, err); !strings.HasPrefix(why, "explain needs more time than it may, 30 ms of a processor") {
		t.Error(why)
	}
}

func TestWhatNeedsMoreMemoryThanItMayIsEnded(t *testing.T) {
	end := make(chan struct{})
	defer close(end)
	err := (&Watchman{What: "tune", Most: usedMemory() + 32*sample.MiB}).Run(func() error {
		held := make([]byte, 96<<20)
		for i := 0; i < len(held); i += 4096 {
			held[i] = 1
		}
		<-end
		runtime.KeepAlive(held)
		return nil
	})
	if why := refused(t, err); !strings.HasPrefix(why, "tune needs more memory than it may, ") {
		t.Error(why)
	}
}

func TestWhatIsDoneWithinItsBoundsReturnsWhatItReturns(t *testing.T) {
	want := errors.New("its own")
	if err := (&Bound{Memory: "8GiB", Time: time.Hour}).Within("list", func() error { return want }); err != want {
		t.Error(err)
	}
	if err := (&Bound{Memory: "8"}).Within("list", func() error { return want }); err == nil || err == want {
		t.Error(err)
	}
}

// A server's time counts while it has requests, and begins again with the next.
func TestAServerIsBoundedByWhatItIsBusyWith(t *testing.T) {
	end, asked := make(chan struct{}), make(chan struct{})
	w := &Watchman{What: "open", Long: 30 * time.Millisecond, Serving: true}
	h := w.around(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/long" {
			close(asked)
			_ = spin(end)
		}
	}))
	ask := func(path string) { h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", path, nil)) }
	ended := make(chan error, 1)
	go func() { ended <- w.Run(func() error { return spin(end) }) }() // busy itself, with no request
	for began := usedTime(); usedTime()-began < 120*time.Millisecond; {
		ask("/short")
	}
	select {
	case err := <-ended:
		t.Fatal(err)
	default:
	}
	go ask("/long")
	<-asked
	if why := refused(t, <-ended); !strings.HasPrefix(why, "open needs more time than it may") {
		t.Error(why)
	}
	close(end)
}
