package web_test

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
)

// tab is a page in a real browser, 1440 x 900.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu       sync.Mutex
	asked    []string // addresses
	problems []string // errors that the browser logged
}

// browser starts one for the test and opens a tab in it.
func browser(t *testing.T) *tab {
	t.Helper()
	hwtest.Need(t, hwtest.Chromium)
	path, err := hwtest.ChromiumPath()
	if err != nil {
		t.Fatal(err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.WindowSize(1440, 900),
		chromedp.UserDataDir(t.TempDir()), chromedp.Flag("force-color-profile", "srgb"), chromedp.Flag("disable-dev-shm-usage", true),
		chromedp.WSURLReadTimeout(2*time.Minute)) // a busy machine starts a browser slowly
	allocator, stop := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(stop)
	return newTab(t, allocator)
}

// newTab is the first of a browser, or within a tab one more of the same.
func newTab(t *testing.T, within context.Context) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(within)
	t.Cleanup(cancel)
	b := &tab{t: t, ctx: ctx}
	if err := chromedp.Listen(ctx, b.hear); err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.EmulateViewport(1440, 900))
	if _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = chromedp.Cancel(ctx) })
	return b
}

func (b *tab) hear(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		b.asked = append(b.asked, e.Request.URL)
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError {
			b.problems = append(b.problems, e.Entry.Text+" "+e.Entry.URL)
		}
	}
}

// quiet fails the test where the browser complained, or asked for anything but what
// begins so.
func (b *tab) quiet(beginnings ...string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.problems {
		b.t.Errorf("the browser says: %s", p)
	}
	for _, address := range b.asked {
		ok := false
		for _, start := range beginnings {
			ok = ok || strings.HasPrefix(address, start)
		}
		if !ok {
			b.t.Errorf("the page asked for %s", address)
		}
	}
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// open goes to an address and waits until the first screen is whole.
func (b *tab) open(address string) {
	b.t.Helper()
	b.do(chromedp.Navigate(address))
	b.until(`document.querySelector('.ledger') && document.querySelector('.plot canvas') && document.querySelector('.below')`)
}

// value evaluates an expression in the page.
func value[T any](b *tab, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// until waits, frame by frame, until the expression is true. A page that is left
// meanwhile takes the waiting with it: then the next one is asked.
func (b *tab) until(expression string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 60*time.Second)
	defer cancel()
	look := `new Promise((done) => { const look = () => { let is = false; try { is = (` + expression +
		`) } catch { is = false } if (is) done(true); else requestAnimationFrame(look) }; look() })`
	_, err := chromedp.Run(ctx, chromedp.Evaluate[bool](look, chromedp.EvalAwaitPromise))
	for err != nil && ctx.Err() == nil && (strings.Contains(err.Error(), "navigated") || strings.Contains(err.Error(), "context")) {
		_, err = chromedp.Run(ctx, chromedp.Evaluate[bool](look, chromedp.EvalAwaitPromise))
	}
	if err != nil {
		text, _ := chromedp.Run(b.ctx, chromedp.Evaluate[string](`location.href + '\n' + document.body.innerText.slice(0, 1500)`))
		b.t.Fatalf("never came true: %s: %v\n%s", expression, err, text)
	}
}

func (b *tab) text(selector string) string {
	b.t.Helper()
	return value[string](b, `document.querySelector('`+selector+`')?.innerText ?? ''`)
}

// click clicks the button that says so.
func (b *tab) click(name string) {
	b.t.Helper()
	b.do(chromedp.Evaluate[chromedp.Void](`[...document.querySelectorAll('button, a.button')].find((x) => x.innerText === '` + name + `').click()`))
}

// allow lets pages do what a browser asks its user about.
func (b *tab) allow(permissions ...string) {
	b.t.Helper()
	for _, name := range permissions {
		p := cdpbrowser.SetPermissionParams{Permission: &cdpbrowser.PermissionDescriptor{Name: name}, Setting: cdpbrowser.PermissionSettingGranted}
		if _, err := chromedp.CallBrowser(b.ctx, cdpbrowser.SetPermission, p); err != nil {
			b.t.Fatal(err)
		}
	}
}

// download does what begins one and gives the file that the browser has written.
func (b *tab) download(begin string) string {
	b.t.Helper()
	dir, yes := b.t.TempDir(), true
	p := cdpbrowser.SetDownloadBehaviorParams{Behavior: cdpbrowser.SetDownloadBehaviorBehaviorAllow, DownloadPath: dir, EventsEnabled: &yes}
	if _, err := chromedp.CallBrowser(b.ctx, cdpbrowser.SetDownloadBehavior, p); err != nil {
		b.t.Fatal(err)
	}
	name, ended := "", make(chan cdpbrowser.DownloadProgressState, 1)
	if err := chromedp.ListenBrowser(b.ctx, func(event any) {
		switch e := event.(type) {
		case *cdpbrowser.EventDownloadWillBegin:
			name = e.SuggestedFilename
		case *cdpbrowser.EventDownloadProgress:
			if e.State != cdpbrowser.DownloadProgressStateInProgress {
				ended <- e.State
			}
		}
	}); err != nil {
		b.t.Fatal(err)
	}
	b.do(chromedp.Evaluate[chromedp.Void](begin))
	select {
	case state := <-ended:
		if state != cdpbrowser.DownloadProgressStateCompleted {
			b.t.Fatalf("the download is %s", state)
		}
	case <-b.ctx.Done():
		b.t.Fatal(b.ctx.Err())
	}
	return filepath.Join(dir, name)
}

func (b *tab) press(keys string) { b.t.Helper(); b.do(chromedp.KeyEvent(keys)) }

// strike presses one key as a keyboard does: a page that handles it keeps the
// character from what is focused, which press does not wait for.
func (b *tab) strike(key, code string) {
	b.t.Helper()
	for _, e := range []input.DispatchKeyEventParams{{Type: input.DispatchKeyEventTypeKeyDown, Text: key}, {Type: input.DispatchKeyEventTypeKeyUp}} {
		e.Key, e.Code = key, code
		if _, err := chromedp.Call(b.ctx, input.DispatchKeyEvent, e); err != nil {
			b.t.Fatal(err)
		}
	}
}

// drag pulls the mouse over the timeline, from one part of its width to another.
func (b *tab) drag(from, to float64, modifiers ...chromedp.Modifier) {
	b.t.Helper()
	box := value[[]float64](b,
		`(() => { const e = document.querySelector('.u-over'); e.scrollIntoView({ block: 'nearest', behavior: 'instant' }); const r = e.getBoundingClientRect(); return [r.left, r.top, r.width, r.height] })()`)
	x := func(part float64) float64 { return box[0] + part*box[2] }
	y := box[1] + box[3]/2
	with := []chromedp.MouseOption{chromedp.ButtonType(input.MouseButtonLeft), chromedp.ButtonModifiers(modifiers...), chromedp.ClickCount(1)}
	b.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x(from), y),
		chromedp.MouseEvent(input.DispatchMouseEventTypeMousePressed, x(from), y, with...),
		chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x((from+to)/2), y, with...),
		chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x(to), y, with...),
		chromedp.MouseEvent(input.DispatchMouseEventTypeMouseReleased, x(to), y, with...))
}

// pull drags an element by a part of the width of what it lies in.
func (b *tab) pull(selector string, by float64) {
	b.t.Helper()
	box := value[[]float64](b, `(() => { const e = document.querySelector('`+selector+
		`'), r = e.getBoundingClientRect(); return [r.left + r.width / 2, r.top + r.height / 2, e.parentElement.clientWidth] })()`)
	with := []chromedp.MouseOption{chromedp.ButtonType(input.MouseButtonLeft), chromedp.ClickCount(1)}
	b.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMousePressed, box[0], box[1], with...),
		chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, box[0]+by*box[2]/2, box[1], with...),
		chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, box[0]+by*box[2], box[1], with...),
		chromedp.MouseEvent(input.DispatchMouseEventTypeMouseReleased, box[0]+by*box[2], box[1], with...))
}

func highwater(t *testing.T) string {
	t.Helper()
	return hwtest.Build(t, "../../../cmd/highwater", hwtest.BuildOptions{})
}

func testprog(t *testing.T, name string) string {
	t.Helper()
	return hwtest.Build(t, "../../aside/testprog/"+name, hwtest.BuildOptions{})
}

// record runs a program under a limit, "" for none, and gives the recording.
func record(t *testing.T, limit string, program ...string) string {
	t.Helper()
	return recordWith(t, limit, nil, program...)
}

// recordWith is record with flags of highwater run. The program may end by itself,
// by the kernel (137) or by --for (143).
func recordWith(t *testing.T, limit string, flags []string, program ...string) string {
	t.Helper()
	hwtest.Need(t, hwtest.Ptrace)
	path := filepath.Join(t.TempDir(), "run-1.hwm")
	args := append([]string{"run", "-o", path}, flags...)
	if limit != "" {
		hwtest.Need(t, hwtest.Root, hwtest.Cgroup)
		args = append(args, "--limit", limit)
	}
	cmd := exec.Command(highwater(t), append(append(args, "--"), program...)...)
	if out, err := cmd.CombinedOutput(); err != nil && cmd.ProcessState.ExitCode() != 137 && cmd.ProcessState.ExitCode() != 143 {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// serve runs highwater open on a recording and gives the page's address.
func serve(t *testing.T, args ...string) string {
	t.Helper()
	return serveOf(t, os.Getenv("XDG_STATE_HOME"), args...)
}

// in is highwater with a state directory.
func in(t *testing.T, state string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(highwater(t), args...)
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+state)
	return cmd
}

// serveOf is serve with a state directory.
func serveOf(t *testing.T, state string, args ...string) string {
	t.Helper()
	cmd := in(t, state, append([]string{"open", "--no-browser"}, args...)...)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil {
			t.Errorf("highwater open ended with %v: %s", err, said.String())
		}
	})
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("%v: no address: %v", cmd.Args, err)
	}
	return strings.TrimSpace(address)
}
