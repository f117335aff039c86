package web_test

import (
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/show/web"
)

// A leak that the kernel ends, and every way that a user has to look at it.
func TestAKilledLeakIsReadOnThePage(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Chromium)
	path := record(t, "48MiB", testprog(t, "leak"), "-rate", "4MiB")
	address := serve(t, path)
	b := browser(t)
	b.open(address)

	t.Run("the verdict comes first", func(t *testing.T) {
		if got := b.text(".badge"); got != "KILLED" {
			t.Errorf("outcome %q", got)
		}
		if got := b.text("h1"); !strings.Contains(got, "main.go") {
			t.Errorf("verdict %q", got)
		}
		if got := b.text("title") + value[string](b, "document.title"); !strings.Contains(got, "leak") {
			t.Errorf("title %q", got)
		}
	})
	t.Run("the answer needs no scrolling", func(t *testing.T) {
		if bottom := value[float64](b, `document.querySelector('section[aria-labelledby=fix-title]').getBoundingClientRect().bottom`); bottom > 900 {
			t.Errorf("what fixes it ends at %v of 900", bottom)
		}
		if wide := value[float64](b, `document.documentElement.scrollWidth`); wide > 1440 {
			t.Errorf("the page is %v wide", wide)
		}
	})
	t.Run("the chart ends at the kill and not where the dead process was released", func(t *testing.T) {
		var o web.Overview
		get(t, address+"api/overview", &o)
		if o.AfterEnd == nil {
			t.Fatal("nothing is known of the time after the end")
		}
		if end := value[float64](b, `parseFloat(document.querySelector('.plot').ariaValueMax)`); end > o.AfterEnd[0]*1.01 || end < o.AfterEnd[0]*0.99 {
			t.Errorf("the chart ends after %v s, the program after %v s; it was released after %v s", end, o.AfterEnd[0], o.AfterEnd[1])
		}
	})
	t.Run("the headline's figures are the table's, or the page says of what they are", func(t *testing.T) {
		var o web.Overview
		get(t, address+"api/overview", &o)
		var i web.Instant
		get(t, address+"api/instant?at=", &i)
		headline, table := float64(o.Answer.Sampling.TotalBytes), float64(i.Heap.Total)
		said := strings.Contains(b.text("#who-title"), "The headline is of a heap capture with ")
		if apart := math.Abs(headline-table) > table/20; table == 0 || said != apart {
			t.Errorf("%.0f and %.0f bytes, told apart: %v", headline, table, said)
		}
	})
	t.Run("what is ruled out is named in words", func(t *testing.T) {
		if got := b.text("section[aria-labelledby=why-title] .out:last-of-type > summary"); !strings.HasPrefix(got, "Ruled out: ") || strings.ContainsAny(got, "-…") {
			t.Errorf("%q", got)
		}
	})
	t.Run("the line is shown in its source", func(t *testing.T) {
		if got := b.text(".code mark"); !strings.Contains(got, "make(") {
			t.Errorf("marked line %q", got)
		}
	})
	t.Run("the bar adds up", func(t *testing.T) {
		var i web.Instant
		get(t, address+"api/instant?at=", &i)
		sum := i.Ledger.Unexplained
		for _, r := range i.Ledger.Rows {
			sum += r.Bytes
			if r.Means == "" || r.Group == "" {
				t.Errorf("%s is not defined", r.Name)
			}
		}
		if sum != i.Ledger.Total || sum == 0 {
			t.Errorf("rows sum to %d, the charge is %d", sum, i.Ledger.Total)
		}
		parts := value[float64](b, `[...document.querySelectorAll('.part')].reduce((sum, p) => sum + parseFloat(p.style.width), 0)`)
		if parts < 99.9 || parts > 100.1 {
			t.Errorf("the bar is %v %% wide", parts)
		}
	})
	t.Run("keys jump", func(t *testing.T) {
		for _, name := range []string{"peak", "last", "kill"} {
			b.press(name[:1])
			b.until(`location.hash.includes('at=` + name + `')`)
		}
		b.until(`document.querySelector('.ledger .finding').innerText.includes('at the kill')`)
		b.press("?")
		b.until(`document.querySelector('dialog[open]')`)
		b.do(chromedp.KeyEvent(kb.Escape))
		b.until(`!document.querySelector('dialog')`)
	})
	t.Run("every key of the list does what it says", func(t *testing.T) {
		b.press("?")
		b.until(`document.querySelector('dialog[open]')`)
		listed := value[[]string](b, `[...document.querySelectorAll('dialog kbd')].map((e) => e.innerText)`)
		for _, key := range []string{"p", "k", "l", "d", "/", "Esc", "?"} {
			if !slices.Contains(listed, key) {
				t.Errorf("%q is not among the keys listed, %q", key, listed)
			}
		}
		b.press(kb.Escape)
		b.until(`!document.querySelector('dialog')`)
		b.press("d")
		b.until(`location.hash.includes('base=') && document.querySelector('.chip.base') && document.querySelector('.legend .up')`)
		b.press("d")
		b.until(`!location.hash.includes('base=') && !document.querySelector('.chip.base') && !document.querySelector('.legend .up')`)
		b.strike("/", "Slash")
		b.until(`document.activeElement.id === 'search' && document.activeElement.value === ''`)
		b.press("plk?d/main")
		b.until(`document.activeElement.value === 'plk?d/main' && location.hash.includes('search=') && !location.hash.includes('base=') && !document.querySelector('dialog')`)
		if got := b.text(".ledger .finding"); !strings.Contains(got, "at the kill") {
			t.Errorf("what was typed moved the cursor: %q", got)
		}
		b.press(kb.Escape) // the field's own: it is emptied
		b.until(`document.activeElement.value === '' && !location.hash.includes('search=')`)
		b.do(chromedp.Evaluate[chromedp.Void](`document.activeElement.blur()`))
	})
	t.Run("a button jumps, too", func(t *testing.T) {
		for _, name := range []string{"Peak", "Last", "Kill"} {
			b.click(name)
			b.until(`location.hash.includes('at=` + strings.ToLower(name) + `')`)
		}
	})
	t.Run("a click moves the cursor and its ledger", func(t *testing.T) {
		b.drag(0.5, 0.5)
		b.until(`/at=[\d.]+s/.test(location.hash) && /at [\d.]+ s/.test(document.querySelector('.ledger .finding').innerText)`)
		b.do(chromedp.Focus(".plot"))
		before := value[string](b, `document.querySelector('.plot').getAttribute('aria-valuetext')`)
		b.press(kb.ArrowLeft)
		b.until(`document.querySelector('.plot').getAttribute('aria-valuetext') !== '` + before + `'`)
	})
	t.Run("a drag is a window", func(t *testing.T) {
		b.drag(0.3, 0.8)
		b.until(`location.hash.includes('window=') && [...document.querySelectorAll('button')].some((x) => x.innerText.startsWith('Whole run'))`)
		b.until(`document.querySelector('.holders .tabs').innerText.includes('growth since')`)
		b.press(kb.Escape)
		b.until(`!location.hash.includes('window=')`)
	})
	t.Run("the window is moved over the run, wider and narrower", func(t *testing.T) {
		window := func() []float64 {
			return value[[]float64](b, `location.hash.match(/window=([^&]*)/)[1].split('..').map(parseFloat)`)
		}
		b.drag(0.1, 0.3)
		b.until(`location.hash.includes('window=')`)
		before := window()
		b.pull(".brush .window", 0.2)
		b.until(`parseFloat(location.hash.match(/window=([^&]*)/)[1]) > ` + strconv.FormatFloat(before[0], 'f', -1, 64))
		after := window()
		if wide, was := after[1]-after[0], before[1]-before[0]; wide < 0.99*was || wide > 1.01*was {
			t.Errorf("the window was %v and is %v", before, after)
		}
		b.do(chromedp.Focus(".brush"))
		b.press("+")
		b.until(`(() => { const [from, to] = location.hash.match(/window=([^&]*)/)[1].split('..').map(parseFloat); return to - from < ` +
			strconv.FormatFloat(0.6*(after[1]-after[0]), 'f', -1, 64) + ` })()`)
		b.press(kb.Home)
		b.until(`location.hash.includes('window=0..') || /window=-/.test(location.hash)`)
		for range 6 {
			b.press("-")
		}
		b.until(`!location.hash.includes('window=')`)
	})
	t.Run("a drag with Ctrl is a baseline", func(t *testing.T) {
		b.press("k")
		b.drag(0.1, 0.4, chromedp.ModifierCtrl)
		b.until(`location.hash.includes('base=') && document.querySelector('.chip.base') && document.querySelector('.legend .up')`)
		b.until(`document.querySelector('.icicle .grew')`)
		b.press(kb.Escape)
		b.until(`!document.querySelector('.chip.base')`)
	})
	t.Run("the address holds the state", func(t *testing.T) {
		second := browser(t)
		second.open(address + "#at=peak&view=allocated&search=leak")
		second.until(`document.querySelector('.ledger .finding').innerText.includes('at the peak') && document.querySelector('#search').value === 'leak' && document.querySelector('.icicle .hit')`)
		if got := value[string](second, `document.querySelector('.tabs [aria-pressed=true]').innerText`); got != "All allocated" {
			t.Errorf("view %q", got)
		}
	})
	t.Run("each fact opens the samples that it was read from", func(t *testing.T) {
		facts := value[int](b, `document.querySelectorAll('.out').forEach((e) => { e.open = true }), document.querySelectorAll('.fact').length`)
		for i := range facts {
			fact := fmt.Sprintf(`document.querySelectorAll('.fact')[%d]`, i)
			value[bool](b, fact+`.open = true`)
			b.until(fact + `.querySelector('.card > table td') && ` + fact + `.querySelectorAll('.raw tbody td').length > 1`)
			value[bool](b, fact+`.open = false`)
		}
		if facts == 0 {
			t.Error("no fact is named")
		}
		value[bool](b, `(document.querySelectorAll('.out').forEach((e) => { e.open = false }), true)`)
	})
	t.Run("the verdict is copied as Markdown", func(t *testing.T) {
		b.allow("clipboard-read", "clipboard-write")
		b.click("Copy as Markdown")
		b.until(`[...document.querySelectorAll('.actions button')].some((e) => e.innerText === 'Copied')`)
		if got := value[string](b, `navigator.clipboard.readText()`); !strings.Contains(got, "ALLOCATED BY") || !strings.HasPrefix(got, "```") {
			t.Errorf("copied %q", got)
		}
	})
	t.Run("the profile opens in go tool pprof", func(t *testing.T) {
		file := b.download(`document.querySelector('a[download]').click()`)
		if name := filepath.Base(file); name != "run-1.heap.pb.gz" {
			t.Errorf("it is called %q", name)
		}
		out, err := exec.Command("go", "tool", "pprof", "-top", file).CombinedOutput()
		if err != nil || !strings.Contains(string(out), "main.") {
			t.Errorf("%v: %s", err, out)
		}
	})
	t.Run("what other settings would give is told", func(t *testing.T) {
		b.until(`/GOGC|Nothing is predicted/.test(document.querySelector('.settings').textContent.replace('What would', ''))`)
	})
	t.Run("native memory is told by process", func(t *testing.T) {
		b.click("Native")
		b.until(`location.hash.includes('view=native') && document.querySelector('.holders tbody th').innerText.startsWith('leak')`)
		b.click("Allocated by")
		b.until(`document.querySelector('.holders .code')`)
	})
	t.Run("dark follows the system", func(t *testing.T) {
		light := value[string](b, `getComputedStyle(document.body).backgroundColor`)
		b.media("prefers-color-scheme", "dark")
		b.until(`getComputedStyle(document.body).backgroundColor !== '` + light + `'`)
		b.media("prefers-color-scheme", "light")
	})
	t.Run("allocation rate, GC pauses and counters are overlaid", func(t *testing.T) {
		for _, column := range []string{"alloc_rate", "gc_pause", "goroutines"} {
			value[bool](b, `((s) => { s.value = "`+column+`"; s.dispatchEvent(new Event("change", { bubbles: true })); return s.value === "`+column+
				`" })(document.querySelector(".over select"))`)
			b.until(`location.hash.includes("over=` + column + `") && document.querySelectorAll(".u-axis").length === 3`)
		}
	})
	t.Run("where the memory was is drawn over time, and other lines are off", func(t *testing.T) {
		on := value[[]string](b, `[...document.querySelectorAll('.legend-line button[aria-pressed=true]')].map((e) => e.innerText)`)
		if want := []string{"where it was", "memory usage", "live heap", "limit"}; !slices.Equal(on, want) {
			t.Errorf("drawn are %q, want %q", on, want)
		}
		// The colour of the live heap is on the canvas where it is highest, and is gone when the
		// areas are switched off.
		const blue = `(() => { const c = document.querySelector('.plot canvas'), d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data, e = document.createElement('i'); e.className = 'row-live-go-heap'; document.body.append(e)
			const [r, g, b] = getComputedStyle(e).backgroundColor.match(/\d+/g).map(Number); e.remove(); let n = 0; for (let i = 0; i < d.length; i += 4) if (d[i] === r && d[i + 1] === g && d[i + 2] === b) n++; return n / (c.width * c.height) })()`
		if part := value[float64](b, blue); part < 0.1 {
			t.Errorf("the live heap covers %.3f of the chart", part)
		}
		b.click("where it was")
		b.until(blue + ` < 0.001`)
		b.click("where it was")
		b.until(blue + ` > 0.1`)
	})
	t.Run("the wheel zooms and a double click shows the whole run", func(t *testing.T) {
		b.press(kb.Escape)
		b.until(`!location.hash.includes('window=')`)
		at := value[string](b, `location.hash`)
		wheel := func(by float64) {
			value[bool](b,
				`((e) => { const r = e.getBoundingClientRect(), at = { clientX: r.left + r.width / 2, clientY: r.top + r.height / 2, bubbles: true, cancelable: true }; e.dispatchEvent(new MouseEvent('mousemove', at)); return e.dispatchEvent(new WheelEvent('wheel', { ...at, deltaY: `+
					strconv.FormatFloat(by, 'f', -1, 64)+` })) })(document.querySelector('.u-over'))`)
		}
		wheel(120)
		if got := value[string](b, `location.hash`); got != at {
			t.Errorf("zooming out of the whole run: %q", got)
		}
		wheel(-240)
		b.until(`location.hash.includes('window=')`)
		value[bool](b, `document.querySelector('.u-over').dispatchEvent(new MouseEvent('dblclick', { bubbles: true }))`)
		b.until(`!location.hash.includes('window=')`)
	})
	t.Run("the flame graph is a tab, with search, bottom-up and all that was allocated", func(t *testing.T) {
		b.click("Flame graph")
		b.until(`location.hash.includes('view=flame') && document.querySelector('.holders .icicle .own') && document.querySelectorAll('#search').length === 1`)
		root := value[string](b, `document.querySelector('.holders .icicle [aria-level="2"]').ariaLabel`)
		value[bool](b,
			`((e) => { e.click(); return true })([...document.querySelectorAll('.holders label')].find((e) => e.innerText.includes('Bottom-up')).querySelector('input'))`)
		b.until(`location.hash.includes('invert') && document.querySelector('.holders .icicle [aria-level="2"]').ariaLabel !== '` + root + `'`)
		value[bool](b,
			`((e) => { e.click(); return true })([...document.querySelectorAll('.holders label')].find((e) => e.innerText.includes('All allocated')).querySelector('input'))`)
		b.until(`location.hash.includes('all=')`)
		b.drag(0.1, 0.4, chromedp.ModifierCtrl)
		b.until(`document.querySelector('.holders .icicle .grew')`)
		b.press(kb.Escape)
		b.click("Allocated by")
		b.until(`document.querySelector('.holders .code')`)
	})
	t.Run("the time after the kill is not drawn", func(t *testing.T) {
		var o web.Overview
		get(t, address+"api/overview", &o)
		if o.AfterEnd == nil || o.Kill == nil || o.AfterEnd[0] != *o.Kill || o.AfterEnd[1] <= o.AfterEnd[0] {
			t.Fatalf("killed at %v, kept for %v", o.Kill, o.AfterEnd)
		}
		if end := value[float64](b, `parseFloat(document.querySelector('.plot').ariaValueMax)`); end > (*o.Kill)*1.01 {
			t.Errorf("the chart ends at %v s, the program at %v s", end, *o.Kill)
		}
	})
	t.Run("it prints to one page", func(t *testing.T) {
		pdf, err := chromedp.Run(b.ctx, chromedp.PrintToPDF(chromedp.PDFPreferCSSPageSize()))
		if err != nil {
			t.Fatal(err)
		}
		// The chart becomes as wide as paper is, and the screen's width again.
		for _, event := range [][2]string{{"beforeprint", "> 1500"}, {"afterprint", "<= 1500"}} {
			value[bool](b, `dispatchEvent(new Event('`+event[0]+`'))`)
			b.until(`document.querySelector('.plot canvas').clientWidth ` + event[1])
		}
		if pages := regexp.MustCompile(`/Type\s*/Page[^s]`).FindAll(pdf, -1); len(pages) != 1 {
			t.Errorf("%d pages", len(pages))
		}
	})
	t.Run("what it prints is dark on white, whatever the screen's colours are", func(t *testing.T) {
		p := emulation.SetEmulatedMediaParams{Media: "print", Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}}
		if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, p); err != nil {
			t.Fatal(err)
		}
		const rgb = `getComputedStyle(document.querySelector('h1')).color.match(/[0-9]+/g).map(Number)`
		if light := value[int](b, rgb+`.reduce((a, b) => Math.max(a, b))`); light > 80 {
			t.Errorf("the verdict is printed in a colour of %d of 255 on white", light)
		}
		b.media("prefers-color-scheme", "light")
	})
	t.Run("nobody is kept out", func(t *testing.T) {
		for _, scheme := range []string{"light", "dark"} {
			b.media("prefers-color-scheme", scheme)
			b.accessible()
		}
	})
	t.Run("it can be used at 400 percent", func(t *testing.T) {
		b.do(chromedp.EmulateViewport(360, 225))
		b.until(`document.documentElement.scrollWidth <= 360`)
		cut := value[[]string](b,
			`[...document.querySelectorAll('button, h1, h2, .badge, summary')].filter((e) => e.checkVisibility() && !e.closest('.scroll, .icicle, table') && (e.getBoundingClientRect().right > 361 || e.getBoundingClientRect().left < -1)).map((e) => e.innerText)`)
		if len(cut) > 0 {
			t.Errorf("out of sight: %q", cut)
		}
		b.accessible()
		b.do(chromedp.EmulateViewport(1440, 900))
	})
	t.Run("all of it can be reached by the keyboard", func(t *testing.T) { b.byKeyboard(t) })
	b.quiet(address[:strings.Index(address, "/r/")])
}
