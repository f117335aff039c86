package cli

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

	"github.com/spf13/cobra"

	"github.com/highwater-go/highwater/internal/report"
	"github.com/highwater-go/highwater/internal/top"
	"github.com/highwater-go/highwater/internal/visible"
)

// topFlags are top's flags as given.
type topFlags struct {
	watchFlags
	record, noRecord, once, json bool
}

func topCommand(s *streams) *cobra.Command {
	f := topFlags{watchFlags: watchFlags{quiet: true, ask: askFlags{probeRate: 1}}} // nothing is asked of them
	c := &cobra.Command{
		Use:   "top [PID|NAME...|--container NAME|--cgroup PATH|--all]",
		Short: "Show running programs live: how near each is to its limit, and why",
		Long: `Shows running programs in the terminal: memory against the limit, growth, the time left
to the limit, and the GC's share of the CPU time. Enter shows one program in full: where
its memory is, which lines allocated it, its last GCs. e explains what was recorded so
far, s keeps a moment now, ? shows all keys. Without arguments it shows every Go program.
Where there are more than --at-most, it shows the largest.

It attaches as highwater watch does, at the same cost. When you leave it, it detaches and
the programs keep running. It leaves no recordings behind unless you give --record.

A program that is killed stays in the list, with the reason. On a pipe, or with --once,
top prints the table once.`,
		Example: `  highwater top
  highwater top server
  highwater top --container web
  highwater top --once | sort -k4
  highwater top --json server | jq '.programs[].used_bytes'`,
		RunE: func(c *cobra.Command, args []string) error {
			return f.run(c.Context(), s, args)
		},
	}
	flags := c.Flags()
	addPlaces(&f.placeFlags, c)
	flags.BoolVar(&f.all, "all", false, "watch every Go program of this machine, or of this PID namespace (default)")
	flags.IntVar(&f.atMost, "at-most", 32, "maximum `number` of programs to watch, with --all or a NAME")
	flags.IntVar(&f.rate, "rate", 10, "samples per second while memory moves (1 at rest, up to 1000 near the limit)")
	flags.BoolVar(&f.enableHeapProfile, "enable-heap-profile", false, "enable heap profiling in a program that runs without it, by one write into its memory")
	flags.BoolVar(&f.figuresAlone, "rss-only", false, "without permission to read the memory of a program, record its RSS and cgroup usage only")
	formerly(flags, &f.figuresAlone, "figures-alone")
	c.ValidArgsFunction = completePrograms
	flags.BoolVar(&f.record, "record", false, "keep the recordings, for highwater explain")
	flags.BoolVar(&f.noRecord, "no-record", false, "leave no recordings behind (the default)")
	_ = flags.MarkHidden("no-record") // it is there
	flags.BoolVar(&f.once, "once", false, "print the table once and exit, as on a pipe")
	flags.BoolVar(&f.json, "json", false, "print the table once as JSON")
	addKeepArgs(&f.keepArgs, c)
	return c
}

func (f topFlags) run(ctx context.Context, s *streams, args []string) error {
	if len(args) == 0 && f.places() == 0 {
		f.all = true
	}
	w, err := f.plan("top", args)
	if err != nil {
		return err
	}
	switch {
	case f.record && f.noRecord:
		return usagef("highwater top --record", "--record and --no-record exclude each other")
	case f.json:
		return w.printOnce(s, top.JSON)
	case f.once || !isTTY(fileOf(s.out)):
		return w.printOnce(s, func(rows []top.Row, _ int) (string, error) { return top.Table(rows, tableWidth), nil })
	case !isTerminal(s.out):
		return usagef("highwater top --once prints the table; highwater watch follows in lines", "the terminal cannot be drawn on: TERM=%s", os.Getenv("TERM"))
	}
	t := &topping{watching: w, streams: s, board: top.NewBoard()}
	if !f.record {
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
	streams *streams
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
		return &exitError{code: exitFailed, err: err, hint: "highwater top --once prints the table; highwater watch follows in lines"}
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
	return fmt.Sprintf("%d samples a second, %s", t.rate, what)
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
		visible.Fprintf(t.streams.err, "highwater explain %s\n", made[0])
	default:
		visible.Fprintf(t.streams.err, "%d recordings: highwater list\n", len(made))
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
	err = report.Text(&page, a, report.Options{Width: min(max(width, leastPage), mostPage), Source: explainFlags{}.sourceLines(path), Next: "highwater explain " + typed(path)})
	return page.String(), err
}

// Write tells the user: in the view, or once that is closed on standard error.
func (t *topping) Write(text []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return t.streams.err.Write(text)
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
