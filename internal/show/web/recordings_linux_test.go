package web_test

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/show/web"
)

func TestThePageWithoutScriptIsTheVerdictAsText(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Chromium)
	address := serve(t, record(t, "", testprog(t, "steady"), "-for", "1s"))
	b := browser(t)
	if _, err := chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.Navigate(address[:strings.Index(address, "r/")]))
	if text, err := chromedp.Run(b.ctx, chromedp.Text("body")); err != nil || !strings.Contains(text, "highwater list") {
		t.Errorf("the list without script says %q, %v", text, err)
	}
	b.do(chromedp.Navigate(address))
	text, err := chromedp.Run(b.ctx, chromedp.Text("body"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"MEMORY ", "steady", "highwater explain"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
}

func TestTheOfflineFileNeedsNoNetwork(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Chromium)
	path := record(t, "48MiB", testprog(t, "leak"), "-rate", "4MiB")
	page := filepath.Join(t.TempDir(), "kill.html")
	if out, err := exec.Command(highwater(t), "open", path, "--html", page, "--redact").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{filepath.Dir(path), "-rate", "make([]byte", `"name":"host"`, `"name":"command"`} {
		if strings.Contains(string(text), secret) {
			t.Errorf("the redacted file holds %q", secret)
		}
	}
	b := browser(t)
	b.open("file://" + page)
	if got := b.text("h1"); !strings.Contains(got, "main.go") {
		t.Errorf("verdict %q", got)
	}
	b.until(`document.querySelector('.ledger .finding').innerText.includes('at the kill')`)
	b.press("p")
	b.until(`document.querySelector('.ledger .finding').innerText.includes('at the peak')`)
	b.drag(0.2, 0.4, chromedp.ModifierCtrl)
	b.until(`document.querySelector('.chip.base')`)
	b.quiet("file://"+page, "data:")
}

func TestACutRecordingIsShownAsFarAsItGoes(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Chromium)
	whole, err := os.ReadFile(record(t, "", testprog(t, "processes"), "-for", "4s"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	b := browser(t)
	path := filepath.Join(dir, "cut-1.hwm")
	if err := os.WriteFile(path, whole[:len(whole)*4/5], 0o600); err != nil {
		t.Fatal(err)
	}
	b.open(serve(t, path))
	b.until(`document.querySelector('[role=alert]').innerText.includes('is cut') && document.querySelector('h1').innerText`)
	b.picture(t, "cut.png")

	t.Run("one without a moment says so", func(t *testing.T) {
		path := firstReadable(t, filepath.Join(dir, "cut-2.hwm"), whole)
		b.do(chromedp.Navigate(serve(t, path)))
		b.until(`document.querySelector('[role=alert]')?.innerText`)
	})
}

// firstReadable writes the shortest beginning of a recording, by pages, that can
// be read at all: no moment is in it yet.
func firstReadable(t *testing.T, path string, whole []byte) string {
	t.Helper()
	const page = 4096
	for n := page; n <= len(whole); n += page {
		if err := os.WriteFile(path, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		if r, err := recording.Open(path); err == nil {
			r.Close()
			return path
		}
	}
	t.Fatal("no beginning of the recording can be read")
	return ""
}

func TestAProgramThatIsNotGoIsShownWithWhatIsKnown(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Chromium)
	b := browser(t)
	b.open(serve(t, record(t, "", "sleep", "1")))
	if got := b.text(".holders"); !strings.Contains(got, "not a Go program") {
		t.Errorf("who held it: %q", got)
	}
	b.accessible()
}

func TestThreeProcessesAreOneLedger(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Chromium)
	path := record(t, "", testprog(t, "processes"), "-for", "2s")
	b := browser(t)
	address := serve(t, path)
	b.open(address)
	var o web.Overview
	get(t, address+"api/overview", &o)
	if len(o.Programs) < 3 {
		t.Errorf("%d programs", len(o.Programs))
	}
	if rows := value[int](b, `document.querySelectorAll('section[aria-labelledby=processes-title] tbody tr').length`); rows != len(o.Programs) {
		t.Errorf("%d rows of %d programs", rows, len(o.Programs))
	}
}

func TestARecordingThatVanishesIsSaid(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Chromium)
	path := record(t, "", testprog(t, "steady"), "-for", "1s")
	b := browser(t)
	b.open(serve(t, path))
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	b.press("l")
	b.until(`document.querySelector('[role=alert]')?.innerText.includes('no such file')`)
}

// byKeyboard goes through the first screen with Tab alone, and uses what it finds.
func (b *tab) byKeyboard(t *testing.T) {
	b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector('.skip').focus()`))
	met := map[string]bool{}
	for i := range 200 {
		at := value[string](b,
			`(() => { const e = document.activeElement; return [e.className, e.getAttribute('role') ?? '', (e.innerText || e.ariaLabel || '').slice(0, 24)].join('|') })()`)
		met[at] = true
		if shown := i == 0 ||
			value[bool](b,
				`(() => { const s = getComputedStyle(document.activeElement); return document.activeElement === document.body || s.outlineStyle !== 'none' })()`); !shown {
			t.Errorf("where the keyboard is cannot be seen at %q", at)
		}
		if strings.Contains(at, "treeitem") {
			break
		}
		b.press(kb.Tab)
	}
	for _, want := range []string{"Skip to the code", "Confidence", "Copy as Markdown", "Download pprof", "memory usage", "Peak", "plot|slider", "brush|slider",
		"live heap", "Goroutines", "main.go", "e1", "Copy command", "treeitem"} {
		found := false
		for at := range met {
			found = found || strings.Contains(at, want)
		}
		if !found {
			t.Errorf("Tab never comes to %q", want)
		}
	}
	b.press(kb.ArrowDown)
	b.until(`document.activeElement.ariaLevel === '2'`)
	b.press(kb.Enter)
	const zoomed = `document.activeElement.closest('.icicle')?.previousElementSibling.querySelectorAll('button').length` // of the tree that the keyboard is in
	b.until(zoomed + ` > 1`)
	b.press(kb.Backspace)
	b.until(zoomed + ` === 1`)
}

// get reads the page's data.
func get(t *testing.T, address string, into any) {
	t.Helper()
	if err := json.Unmarshal(body(t, address), into); err != nil {
		t.Fatal(err)
	}
}

func body(t *testing.T, address string) []byte {
	t.Helper()
	answer, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var out strings.Builder
	if _, err := io.Copy(&out, answer.Body); err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s: %v: %s", address, answer.Status, err, out.String())
	}
	return []byte(out.String())
}

// media makes the browser prefer something.
func (b *tab) media(name, preferred string) {
	b.t.Helper()
	p := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: name, Value: preferred}}}
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, p); err != nil {
		b.t.Fatal(err)
	}
}

// accessible runs axe-core over the page.
func (b *tab) accessible() {
	b.t.Helper()
	axe, err := os.ReadFile("testdata/axe.min.js")
	if err != nil {
		b.t.Fatal(err)
	}
	b.do(chromedp.Evaluate[chromedp.Void](string(axe)))
	found := value[[]string](b,
		`axe.run({ resultTypes: ['violations'] }).then((r) => r.violations.map((v) => v.id + ': ' + v.help + '\n' + v.nodes.slice(0, 4).map((n) => n.html.slice(0, 200) + ' ' + n.failureSummary).join('\n')))`)
	for _, f := range found {
		b.t.Error(f)
	}
}

func TestAGrowingRecordingIsFollowed(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Chromium, hwtest.Ptrace)
	path := filepath.Join(t.TempDir(), "live-1.hwm")
	cmd := exec.Command(highwater(t), "run", "-o", path, "--", testprog(t, "steady"), "-for", "10m")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = cmd.Wait() }()
	stop := func() { _ = cmd.Process.Signal(os.Interrupt); <-ended }
	defer stop()
	b := browser(t)
	for b.do(chromedp.Navigate("about:blank")); ; { // until there is a moment to show
		if out, _ := exec.Command(highwater(t), "explain", path).CombinedOutput(); strings.Contains(string(out), "MEMORY") {
			break
		}
		select {
		case <-ended:
			t.Fatal("the run ended")
		default:
		}
	}
	address := serve(t, path)
	b.open(address)
	b.until(`document.querySelector('.live')`)
	grows := func(b *tab) {
		end := value[float64](b, `parseFloat(document.querySelector('.plot').ariaValueMax)`)
		b.until(`parseFloat(document.querySelector('.plot').ariaValueMax) > ` + strconv.FormatFloat(end+1, 'f', 2, 64))
	}
	grows(b)
	t.Run("in a second tab, too, and neither disturbs the other", func(t *testing.T) {
		second := newTab(t, b.ctx)
		second.open(address)
		second.press("p")
		second.until(`location.hash === '#at=peak'`)
		grows(b)
		grows(second)
		b.drag(0.2, 0.6)
		b.until(`location.hash.includes('window=')`)
		if got := value[string](second, `location.hash`); got != "#at=peak" {
			t.Errorf("the second tab is at %q", got)
		}
		b.press(kb.Escape)
		b.until(`!location.hash.includes('window=')`)
		second.quiet(address[:strings.Index(address, "/r/")])
		if err := chromedp.Cancel(second.ctx); err != nil {
			t.Error(err)
		}
		grows(b)
	})
	stop()
	b.until(`!document.querySelector('.live') && document.querySelector('.badge').innerText !== 'RUNNING'`)
}

func TestAnHourWithAHoleIsShown(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Chromium)
	b := browser(t)
	b.open(serve(t, long(t, 36_000, 12_000)))
	b.until(`document.querySelector('section[aria-labelledby=limits-title]').innerText.includes('no sample from 20 min 0 s to 20 min 10 s')`)
	if end := value[float64](b, `parseFloat(document.querySelector('.plot').ariaValueMax)`); end < 3599 || end > 3600 {
		t.Errorf("the course ends after %v s", end)
	}
	b.drag(0.2, 0.4)
	b.until(`location.hash.includes('window=')`)
	b.press(kb.Escape)
	b.until(`!location.hash.includes('window=')`)
}

func TestAPortInUseIsSaid(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	cmd := exec.Command(highwater(t), "open", "--no-browser", "--listen", l.Addr().String())
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+t.TempDir())
	out, _ := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 2 || !strings.Contains(string(out), "in use") {
		t.Errorf("exit code %d: %s", cmd.ProcessState.ExitCode(), out)
	}
}
