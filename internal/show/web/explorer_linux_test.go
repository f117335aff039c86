package web_test

import (
	"net"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/show/web"
)

// A program that keeps what comes in a map, and was killed: the page says by which
// variable, on the first screen and in full below.
func TestWhoHoldsTheHeapIsExplored(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Chromium)
	path := recordWith(t, "64MiB", []string{"--heap", "kill"}, hwtest.Build(t, "../../measure/heapgraph/testdata/hoard", hwtest.BuildOptions{}), "map", "500")
	address := serve(t, path)
	b := browser(t)
	b.open(address)
	b.click("Retained by")
	b.until(`location.hash.includes('view=holders') && document.querySelector('.holds tbody th code')?.innerText.startsWith('main.sessions')`)

	t.Run("the picture is as wide as what is live", func(t *testing.T) {
		var h web.Held
		get(t, address+"api/held?at=", &h)
		roots := int64(0)
		for i, p := range h.Paths {
			if p.Parent >= i {
				t.Fatalf("path %d is a part of %d", i, p.Parent)
			}
			if p.Parent < 0 {
				roots += p.Retained
			}
		}
		if h.LiveBytes < 10<<20 || roots > h.LiveBytes || roots < h.LiveBytes*9/10 {
			t.Errorf("the roots retain %d of %d bytes", roots, h.LiveBytes)
		}
		wide := value[float64](b, `Math.max(...[...document.querySelectorAll('.held [aria-level="2"]')].map((e) => parseFloat(e.style.width)))`)
		if wide < 50 {
			t.Errorf("the widest root has %v %% of the width", wide)
		}
	})
	t.Run("who holds most is said first", func(t *testing.T) {
		if got := b.text("#held-title .finding"); !regexp.MustCompile(`^main\.sessions retains [\d.]+ MiB of [\d.]+ MiB live, in `).MatchString(got) {
			t.Errorf("%q", got)
		}
	})
	t.Run("a holder leads to its root", func(t *testing.T) {
		b.do(chromedp.Click(".holds tbody th button"))
		b.until(`document.querySelector('.way tbody th').innerText.startsWith('main.sessions')`)
	})
	t.Run("a box is gone into, by the keyboard too", func(t *testing.T) {
		b.do(chromedp.Focus(`.held [role=treeitem][tabindex="0"]`))
		b.press(kb.ArrowDown)
		b.until(`document.activeElement.getAttribute('aria-level') === '2'`)
		b.press(kb.Enter)
		b.until(`document.querySelectorAll('.held .path button').length === 2 && document.querySelectorAll('.way tbody tr').length === 1`)
		b.press(kb.Backspace)
		b.until(`document.querySelectorAll('.held .path button').length === 1 && !document.querySelector('.way')`)
	})
	t.Run("types that are inferred are marked", func(t *testing.T) {
		if !value[bool](b,
			`[...document.querySelectorAll('.types code')].some((e) => e.innerText.startsWith('~')) && [...document.querySelectorAll('.types code')].some((e) => !e.innerText.startsWith('~')) && document.querySelector('.types caption').innerText.includes('~ inferred')`) {
			t.Error("not on the page")
		}
	})
	t.Run("a type is searched for", func(t *testing.T) {
		b.do(chromedp.Evaluate[chromedp.Void](`[...document.querySelectorAll('.types button')].find((x) => x.innerText.includes('session')).click()`))
		b.until(`location.hash.includes('find=') && document.querySelector('.found tbody th code').innerText.startsWith('main.sessions')`)
		b.do(chromedp.Click(".found tbody th button"))
		b.until(`document.querySelector('.way')`)
	})
	t.Run("it is accessible", func(t *testing.T) {
		for _, scheme := range []string{"dark", "light"} {
			b.media("prefers-color-scheme", scheme)
			b.accessible()
		}
	})
	t.Run("a file without a server has it too", func(t *testing.T) {
		page := filepath.Join(t.TempDir(), "kill.html")
		if out, err := exec.Command(highwater(t), "open", path, "--html", page).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		b.open("file://" + page + "#view=holders&find=sessions")
		b.until(`document.querySelector('.found tbody th code').innerText.startsWith('main.sessions')`)
	})
}

// What a probe asked of the program is on the page: how long answers took, and each
// of them over the course.
func TestHowLongAnswersTookIsOnThePage(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Chromium)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := l.Addr().String()
	l.Close()
	path := recordWith(t, "", []string{"--probe", "http://" + server + "/", "--probe-rate", "50", "--for", "6s"}, testprog(t, "counting"), "-addr", server)
	address := serve(t, path)
	b := browser(t)
	b.open(address)

	var o web.Overview
	get(t, address+"api/overview", &o)
	asked := o.Answer.Latency
	if asked == nil || asked.Requests == 0 {
		t.Fatalf("no request was recorded: %+v", asked)
	}
	section := `document.querySelector('section[aria-labelledby=answers-title]')`
	t.Run("percentiles", func(t *testing.T) {
		text := value[string](b, section+`.querySelector('table').innerText`)
		for _, want := range []string{"50 % within", "90 % within", "all within"} {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not in %q", want, text)
			}
		}
	})
	t.Run("the histogram counts every answer", func(t *testing.T) {
		want := 0
		for _, bucket := range asked.Histogram {
			want += int(bucket.Requests)
		}
		got := value[int](b, `[...`+section+`.querySelectorAll('.bars td:last-child')].reduce((n, e) => n + parseInt(e.innerText), 0)`)
		if got != want || want == 0 {
			t.Errorf("%d answers are counted, want %d", got, want)
		}
	})
	t.Run("each request is laid over the course", func(t *testing.T) {
		var line web.Timeline
		get(t, address+"api/timeline?from=0&to=100&steps=1200", &line)
		seen := 0
		for _, v := range line.Columns["request latency, s"] {
			if v != nil {
				seen++
			}
		}
		if seen < int(asked.Requests)*9/10 {
			t.Errorf("%d of %d requests are drawn", seen, asked.Requests)
		}
		axes := value[int](b, `document.querySelectorAll('.u-axis').length`)
		b.do(chromedp.Evaluate[chromedp.Void](`(() => { const s = document.querySelector('.over select'); s.value = 'request latency, s'; s.dispatchEvent(new Event('change', { bubbles: true })) })()`))
		b.until(`location.hash.includes('over=request') && document.querySelectorAll('.u-axis').length === ` + strconv.Itoa(axes+1))
	})
	t.Run("it is accessible", func(t *testing.T) { b.accessible() })
}
