package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/chromedp/cdproto/input"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/units"
)

const (
	screenFloor = 500 * time.Millisecond
	lateFloor   = 0.02 // of the frames
	framesFloor = 58   // a second, of the browser's 60
	screens     = 5
	pulls       = 300
)

// page measures the page of long recordings in a browser.
func page(r *room) ([]row, error) {
	lengths := []struct {
		what  string
		hours int
	}{{"an hour", 1}, {"a day", 24}, {"a week", 168}}
	if r.quick {
		lengths = lengths[:1]
	}
	var rows []row
	for _, l := range lengths {
		path := filepath.Join(r.dir, fmt.Sprintf("page-%d.hwm", l.hours))
		h := newHour()
		h.points, h.sites, h.profileEvery, h.momentEvery = l.hours*hourPoints, 300, 50, 600
		began := time.Now()
		if err := h.record(path); err != nil {
			return nil, err
		}
		made := time.Since(began)
		more, err := pageRows(r, path, l.what, h.points, made)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", l.what, err)
		}
		rows = append(rows, more...)
		if l.hours == 168 {
			explained, err := explainRows(r, path, l.what, 5*time.Second, h)
			if err != nil {
				return nil, err
			}
			rows = append(rows, explained...)
		}
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

func pageRows(r *room, path, what string, points int, made time.Duration) ([]row, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	var took []time.Duration
	var moved frames
	for range screens {
		first, f, err := visit(r, path, float64(points)/10)
		if err != nil {
			return nil, err
		}
		took = append(took, first)
		moved.intervals = append(moved.intervals, f.intervals...)
	}
	slices.Sort(took)
	middle, worst := took[len(took)/2], took[len(took)-1]
	rate, late, slowest := moved.figures()
	return []row{
		{What: "`open`, the first screen of " + what, Floor: "under 500 ms", Figure: fmt.Sprintf("%d ms", middle.Milliseconds()), Pass: middle < screenFloor,
			More: fmt.Sprintf("median of %d, worst %d ms; %d samples, %s, recorded in %s", len(took), worst.Milliseconds(), points,
				units.Size(sample.Bytes(info.Size())), made.Round(100*time.Millisecond))},
		{What: "`open`, moving over " + what, Floor: "60 frames a second, 2 % late", Figure: fmt.Sprintf("%.1f", rate),
			Pass: rate >= framesFloor && late <= lateFloor,
			More: fmt.Sprintf("%d frames, %.1f %% of them late, the slowest after %.0f ms", len(moved.intervals), 100*late, slowest)},
	}, nil
}

// frames are the times between frames, in milliseconds.
type frames struct{ intervals []float64 }

// figures are frames a second, the part that was late, and the longest wait.
func (f frames) figures() (rate, late, slowest float64) {
	sum, n := 0.0, 0
	for _, ms := range f.intervals {
		sum, slowest = sum+ms, max(slowest, ms)
		if ms > 25 {
			n++
		}
	}
	count := float64(len(f.intervals))
	return 1000 * count / sum, float64(n) / count, slowest
}

// visit opens a recording by a server and a browser of its own, and moves over it.
func visit(r *room, path string, seconds float64) (first time.Duration, f frames, err error) {
	server := exec.Command(r.tool, "open", "--no-browser", path)
	out, err := server.StdoutPipe()
	if err != nil {
		return 0, f, err
	}
	if err := server.Start(); err != nil {
		return 0, f, err
	}
	defer func() { err = errors.Join(err, server.Process.Signal(os.Interrupt), server.Wait()) }()
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return 0, f, err
	}
	ctx, stop, err := headless(r)
	if err != nil {
		return 0, f, err
	}
	defer stop()
	ms, err := firstScreen(ctx, strings.TrimSpace(address))
	if err != nil {
		return 0, f, err
	}
	if err := narrow(ctx, seconds/40); err != nil {
		return 0, f, err
	}
	f.intervals, err = pull(ctx)
	return time.Duration(ms * 1e6), f, err
}

// headless starts a browser with one tab.
func headless(r *room) (context.Context, func(), error) {
	path, err := hwtest.ChromiumPath()
	if err != nil {
		return nil, nil, err
	}
	profile, err := os.MkdirTemp(r.dir, "browser-")
	if err != nil {
		return nil, nil, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(profile),
		chromedp.WindowSize(1440, 900), chromedp.Flag("disable-dev-shm-usage", true))
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(allocator)
	return ctx, func() { _ = chromedp.Cancel(ctx); cancel(); stop() }, nil
}

// watchFirst notes when all of the first screen has been painted.
const watchFirst = `(() => { const look = () => {
	const is = ['h1', '.u-wrap canvas', '.ledger', '.holders', '.fixes, section[aria-labelledby=fix-title]'].every((s) => document.querySelector(s))
	requestAnimationFrame(is ? () => { window.firstScreen = performance.now() } : look)
}; look() })()`

// firstScreen is how long the first screen took, in milliseconds since the
// navigation.
func firstScreen(ctx context.Context, address string) (float64, error) {
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank"), chromedp.EmulateViewport(1440, 900)); err != nil {
		return 0, err
	}
	if _, err := chromedp.Call(ctx, cdppage.AddScriptToEvaluateOnNewDocument, cdppage.AddScriptToEvaluateOnNewDocumentParams{Source: watchFirst}); err != nil {
		return 0, err
	}
	if err := chromedp.Do(ctx, chromedp.Navigate(address)); err != nil {
		return 0, err
	}
	return chromedp.Run(ctx,
		chromedp.Evaluate[float64](`new Promise((done) => { const look = () => window.firstScreen ? done(window.firstScreen) : requestAnimationFrame(look); look() })`,
			chromedp.EvalAwaitPromise))
}

// narrow makes a window at the start of the run.
func narrow(ctx context.Context, seconds float64) error {
	_, err := chromedp.Run(ctx, chromedp.Evaluate[bool](fmt.Sprintf(`new Promise((done) => { location.hash = 'window=0..%f'
		const look = () => parseFloat(document.querySelector('.brush .window').style.width) < 5 ? done(true) : requestAnimationFrame(look); look() })`, seconds),
		chromedp.EvalAwaitPromise))
	return err
}

// pull moves the window from the start of the run to its end and gives the times
// between frames meanwhile.
func pull(ctx context.Context) ([]float64, error) {
	box,
		err := chromedp.Run(ctx,
		chromedp.Evaluate[[]float64](`(() => { const w = document.querySelector('.brush .window').getBoundingClientRect(), b = document.querySelector('.brush').getBoundingClientRect(); return [w.left + w.width / 2, w.top + w.height / 2, b.right - w.width / 2] })()`))
	if err != nil {
		return nil, err
	}
	button := []chromedp.MouseOption{chromedp.ButtonType(input.MouseButtonLeft), chromedp.ClickCount(1)}
	mouse := func(kind input.DispatchMouseEventType, x float64) error {
		return chromedp.Do(ctx, chromedp.MouseEvent(kind, x, box[1], button...))
	}
	if err := mouse(input.DispatchMouseEventTypeMousePressed, box[0]); err != nil {
		return nil, err
	}
	if err := chromedp.Do(ctx,
		chromedp.Evaluate[chromedp.Void](`(() => { const times = window.frames_ = []; const note = (t) => { times.push(t); if (!window.still) requestAnimationFrame(note) }; requestAnimationFrame(note) })()`)); err != nil {
		return nil, err
	}
	for i := range pulls {
		if err := mouse(input.DispatchMouseEventTypeMouseMoved, box[0]+(box[2]-box[0])*float64(i+1)/pulls); err != nil {
			return nil, err
		}
	}
	if err := mouse(input.DispatchMouseEventTypeMouseReleased, box[2]); err != nil {
		return nil, err
	}
	return chromedp.Run(ctx,
		chromedp.Evaluate[[]float64](`(() => { window.still = true; return window.frames_.slice(1).map((t, i) => t - window.frames_[i]) })()`))
}
