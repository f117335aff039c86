package web_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
)

// widths are those of a phone, a tablet, two laptops, a screen and a large one.
var widths = []int64{360, 768, 1024, 1280, 1440, 2560}

// overlapping is an expression that lists the texts that lie on one another: the lines
// of each text as they are drawn, cut by what clips them. A tenth of a line may
// be shared: the boxes of letters are higher than the lines of a dense table.
const overlapping = `(() => {
	const lines = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
	const clips = new Map()
	const clipOf = (e) => {
		if (!e || e === document.documentElement) return { left: -1e9, right: 1e9, top: -1e9, bottom: 1e9, out: false }
		if (clips.has(e)) return clips.get(e)
		const up = clipOf(e.parentElement), s = getComputedStyle(e)
		let c = up
		if (s.position === 'absolute' && s.clipPath !== 'none' || s.visibility === 'hidden') c = { ...up, out: true }
		else if (s.overflowX !== 'visible' || s.overflowY !== 'visible') {
			const r = e.getBoundingClientRect()
			c = { left: Math.max(up.left, r.left), right: Math.min(up.right, r.right), top: Math.max(up.top, r.top), bottom: Math.min(up.bottom, r.bottom), out: up.out }
		}
		clips.set(e, c)
		return c
	}
	while (walk.nextNode()) {
		const n = walk.currentNode, e = n.parentElement
		if (!n.data.trim() || !e.checkVisibility() || e.closest('script, style, noscript, .skip, select, .tip')) continue
		const c = clipOf(e)
		if (c.out) continue
		const range = document.createRange()
		range.selectNodeContents(n)
		for (const r of range.getClientRects()) {
			const left = Math.max(r.left, c.left), right = Math.min(r.right, c.right), top = Math.max(r.top, c.top), bottom = Math.min(r.bottom, c.bottom)
			if (right - left > 2 && bottom - top > 4) lines.push({ left, right, top, bottom, text: n.data.trim(), n })
		}
	}
	lines.sort((a, b) => a.top - b.top)
	const found = []
	lines.forEach((a, i) => {
		for (let j = i + 1; j < lines.length && lines[j].top < a.bottom; j++) {
			const b = lines[j]
			if (a.n === b.n) continue
			const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left), high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top)
			if (wide > 2 && high > 0.35 * Math.min(a.bottom - a.top, b.bottom - b.top)) found.push(a.text.slice(0, 60) + ' | ' + b.text.slice(0, 60) + ' at ' + Math.round(Math.max(a.left, b.left)) + ',' + Math.round(b.top + scrollY))
		}
	})
	return found
})()`

// outside is an expression that lists the texts that can be seen neither on the screen nor by
// scrolling what they are in.
const outside = `[...document.querySelectorAll('body *')].filter((e) => {
	if (![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()) || !e.checkVisibility() || e.closest('script, noscript, .skip, select, .hidden, .tip')) return false
	for (let p = e; p; p = p.parentElement) if (getComputedStyle(p).overflowX !== 'visible') return false
	return e.getBoundingClientRect().right > innerWidth + 1
}).map((e) => e.innerText.slice(0, 60))`

// legible fails the test where text lies on text, or leaves the screen, in both
// schemes of colours; it keeps a picture of each.
func (b *tab) legible(t *testing.T, name string) {
	t.Helper()
	for _, width := range widths {
		b.do(chromedp.EmulateViewport(width, 900))
		// Sections below the screen are laid out once there is time.
		b.until(`[...document.querySelectorAll('.below > section')].every((e) => e.style.contentVisibility === 'visible')`)
		b.until(`innerWidth === ` + fmt.Sprint(width))
		value[bool](b, `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))`)
		for _, found := range value[[]string](b, overlapping) {
			t.Errorf("%s, %d pixels wide: text on text: %s", name, width, found)
		}
		for _, found := range value[[]string](b, outside) {
			t.Errorf("%s, %d pixels wide: out of sight: %s", name, width, found)
		}
		if wide := value[int64](b, `document.documentElement.scrollWidth`); wide > width {
			t.Errorf("%s is %d wide on a screen of %d pixels", name, wide, width)
		}
		b.picture(t, fmt.Sprintf("%s-%d.png", strings.ReplaceAll(name, " ", "-"), width))
	}
	b.do(chromedp.EmulateViewport(1440, 900))
}

// picture keeps what the browser shows, where go test -artifacts asks for it.
func (b *tab) picture(t *testing.T, name string) {
	t.Helper()
	if wanted := flag.Lookup("test.artifacts"); wanted == nil || wanted.Value.String() != "true" {
		return
	}
	png, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(t.ArtifactDir(), name), png, 0o644); err != nil {
		t.Fatal(err)
	}
}

// listOf serves the list of a recording under several names, and gives its address.
func listOf(t *testing.T, path string, names ...string) string {
	t.Helper()
	state := t.TempDir()
	text, err := os.ReadFile(path)
	if err == nil {
		err = os.Mkdir(filepath.Join(state, "highwater"), 0o700)
	}
	for _, name := range names {
		if err == nil {
			err = os.WriteFile(filepath.Join(state, "highwater", name+".hwm"), text, 0o600)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return serveOf(t, state)
}

// A program whose source lines, names and processes are too wide for every screen.
func TestNoTextLiesOnText(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Chromium)
	path := recordWith(t, "256MiB", []string{"--heap", "kill"}, hwtest.Build(t, "testdata/wide", hwtest.BuildOptions{}), "-children", "50")
	address := serve(t, path)
	b := browser(t)
	b.open(address)
	b.until(`document.querySelector('.code mark')?.innerText.length > 300 && document.querySelectorAll('section[aria-labelledby=processes-title] tbody tr').length > 50`)
	if name := value[int](b, `Math.max(...[...document.querySelectorAll('.lines th .muted')].map((e) => e.textContent.length))`); name < 300 {
		t.Errorf("the longest name of a function is %d long: the test shows nothing", name)
	}
	b.legible(t, "the page")
	t.Run("with every tab", func(t *testing.T) {
		for _, view := range []string{"holders", "allocated", "garbage", "native", "goroutines", "flame"} {
			b.open(address + "#view=" + view)
			b.until(`!document.querySelector('.holders').innerText.includes('Loading')`)
			b.legible(t, view)
		}
	})
	t.Run("with a baseline and all that opens opened", func(t *testing.T) {
		b.open(address + "#base=0..1&view=live")
		b.until(`document.querySelector('.chip.base')`)
		value[bool](b, `(document.querySelectorAll('details:not(.fact):not(.confidence)').forEach((e) => { e.open = true }), true)`)
		b.legible(t, "opened")
	})
	t.Run("in the list, and where two are compared", func(t *testing.T) {
		one, two := "wide-1", strings.Repeat("a-long-name-", 18)+"2"
		b := browser(t)
		b.do(chromedp.Navigate(listOf(t, path, one, two)))
		b.until(`document.querySelectorAll('.cards tbody tr').length === 2`)
		b.legible(t, "list")
		value[bool](b, `(document.querySelectorAll('.cards input').forEach((e) => e.click()), true)`)
		b.until(`document.querySelector('.tabs a.button')`)
		b.legible(t, "list ticked")
		value[bool](b, `(document.querySelector('.tabs a.button').click(), true)`)
		b.until(`document.querySelector('table.side') && document.querySelector('.icicle .same')`)
		b.legible(t, "compared")
	})
	t.Run("the checks find what they look for", func(t *testing.T) {
		b.open(address)
		value[bool](b, `((e) => { e.style.width = '3000px'; return true })(document.querySelector('h1'))`)
		value[bool](b, `((e) => { e.style.position = 'relative'; e.style.top = '26px'; return true })(document.querySelector('h1'))`)
		if n := value[int](b, overlapping+`.length`); n == 0 {
			t.Error("text that was moved onto other text is not found")
		}
		if wide := value[int](b, `document.documentElement.scrollWidth`); wide <= 1440 {
			t.Error("a heading of 3000 pixels is not found")
		}
	})
}
