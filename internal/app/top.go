package app

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"

	"github.com/highwater-go/highwater/internal/show/report"
	"github.com/highwater-go/highwater/internal/show/top"
	"github.com/highwater-go/highwater/internal/words/visible"
)

// TopFlags are top's flags as given.
type TopFlags struct {
	WatchFlags
	Record, NoRecord, Once, JSON bool
}

func (f TopFlags) Run(ctx context.Context, s *Streams, args []string) error {
	if len(args) == 0 && f.places() == 0 {
		f.All = true
	}
	w, err := f.Plan("top", args)
	if err != nil {
		return err
	}
	switch {
	case f.Record && f.NoRecord:
		return Usagef("highwater top --record", "--record and --no-record exclude each other")
	case f.JSON:
		return w.printOnce(s, top.JSON)
	case f.Once || !IsTTY(FileOf(s.Out)):
		return w.printOnce(s, func(rows []top.Row, _ int) (string, error) { return top.Table(rows, tableWidth), nil })
	case !isTerminal(s.Out):
		return Usagef("highwater top --once prints the table; highwater watch follows in lines", "the terminal cannot be drawn on: TERM=%s", os.Getenv("TERM"))
	}
	t := &topping{watching: w, streams: s, board: top.NewBoard()}
	if !f.Record {
		if t.dir, err = os.MkdirTemp("", "highwater-top-"); err != nil {
			return fmt.Errorf("make a folder for the recordings: %w", err)
		}
		defer os.RemoveAll(t.dir)
	}
	return t.run(ctx)
}

// topping is a watch with a view of it.
type topping struct {
	*watching
	streams *Streams
	board   *top.Board
	screen  *top.Screen
	dir     string // of the recordings; "": the state directory

	give    context.CancelCauseFunc // ends the view
	let     context.CancelFunc      // ends the watch
	unshare func()                  // lets go of what the programs share
	watch   sync.WaitGroup
	follow  *follower

	mu     sync.Mutex
	closed bool // the screen is: what is said goes to standard error
}

// run shows the view until it is left, and gives the terminal back before anything
// else ends.
func (t *topping) run(ctx context.Context) (err error) {
	if t.screen, err = top.Open(); err != nil {
		return &ExitError{Code: ExitFailed, Err: err, Hint: "highwater top --once prints the table; highwater watch follows in lines"}
	}
	defer t.close()
	ctx, cancel := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer cancel()
	ctx, t.give = context.WithCancelCause(ctx)
	defer t.give(nil)
	stopping := notifyStop()
	defer signal.Stop(stopping)
	t.begin()
	top.Run(ctx, t.screen, top.Options{Board: t.board, How: t.how(), Explain: t.explain, Stopping: stopping, Stop: t.stop})
	t.close()
	t.end()
	t.sayNext()
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		return cause
	}
	return nil
}

// how it watches, for the first line.
func (t *topping) how() string {
	what := "recorded"
	if t.dir != "" {
		what = "not kept"
	}
	return fmt.Sprintf("%d samples a second, %s", t.Rate, what)
}

// begin watches in the background.
func (t *topping) begin() {
	ctx, cancel := context.WithCancel(context.Background())
	t.let = cancel
	f := newFollower(t.watching, t.streams)
	f.status = newStatus(t)
	f.board, f.dir, f.guard = t.board, t.dir, t.screen.Guard
	t.follow = f
	t.unshare = f.share(ctx)
	t.watch.Go(func() {
		defer t.screen.Guard()
		err := f.run(ctx)
		switch {
		case err == nil:
		case f.count() == 0:
			t.give(err)
		default:
			t.board.Say(err.Error())
		}
	})
}

// end lets all programs go and finishes the recordings.
func (t *topping) end() {
	t.let()
	t.watch.Wait()
	t.follow.lives.Wait()
	t.follow.owners.Close()
	t.unshare()
}

// sayNext is the next useful command.
func (t *topping) sayNext() {
	switch made := t.board.Recordings(); {
	case t.dir != "" || len(made) == 0:
	case len(made) == 1:
		visible.Fprintf(t.streams.Err, "highwater explain %s\n", made[0])
	default:
		visible.Fprintf(t.streams.Err, "%d recordings: highwater list\n", len(made))
	}
}

// stop lets the programs go while this process is stopped: a tracer that does not
// run would hold them at their exit.
func (t *topping) stop() {
	if !mayStop() {
		return
	}
	t.end()
	stopSelf()
	t.begin()
}

// How wide an answer's page may be.
const leastPage, mostPage = 60, 100

// explain is what highwater explain prints.
func (t *topping) explain(path string, width int) (string, error) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(math.MaxInt64)) // an answer needs more than a watch
	a, err := answer(path, "")
	if err != nil {
		return "", err
	}
	var page strings.Builder
	err = report.Text(&page, a, report.Options{Width: min(max(width, leastPage), mostPage), Source: ExplainFlags{}.sourceLines(path),
		Next: "highwater explain " + typed(path)})
	return page.String(), err
}

// Write tells the user: in the view, or once that is closed on standard error.
func (t *topping) Write(text []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return t.streams.Err.Write(text)
	}
	t.board.Say(strings.TrimSpace(string(text)))
	return len(text), nil
}

// close gives the terminal back.
func (t *topping) close() {
	t.screen.Close()
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
}
