package web_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// shelved writes finished recordings that were explained, an hour apart, and serves their list.
func shelved(t *testing.T) string {
	t.Helper()
	state := t.TempDir()
	if err := os.Mkdir(filepath.Join(state, "highwater"), 0o700); err != nil {
		t.Fatal(err)
	}
	hour := 0
	keep := func(name, verdict, fingerprint string, peaks ...int) {
		for i, peak := range peaks {
			hour++
			at := start.Add(time.Duration(hour) * time.Hour)
			killed := map[bool]string{true: "killed", false: "exited"}[verdict == "leak"]
			w, err := recording.Create(filepath.Join(state, "highwater", fmt.Sprintf("%s-%d.hwm", name, i+1)),
				recording.Meta{At: at, Command: []string{"/srv/" + name}, Limit: sample.Some(512 * sample.MiB),
					More: map[string]string{"verdict": verdict, "fingerprint": fingerprint, "state": killed, "peak": strconv.Itoa(peak << 20)}})
			if err == nil {
				err = w.Close()
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	keep("batch", "healthy", "", 90)
	keep("shop", "leak", "hw-aaaaaa", 100, 150, 200, 250, 300, 350, 400)
	keep("auth", "healthy", "", 80, 81)
	if err := os.WriteFile(filepath.Join(state, "highwater", "broken-1.hwm"), []byte("no recording"), 0o600); err != nil {
		t.Fatal(err)
	}
	return serveOf(t, state)
}

func TestTheListIsSortedAndGroupedAndShowsTheTrend(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Chromium)
	address := shelved(t)
	b := browser(t)
	visit := func(hash, until string) {
		t.Helper()
		b.do(chromedp.Navigate("about:blank"), chromedp.Navigate(address+hash))
		b.until(`document.querySelector('.cards tbody') && ` + until)
	}
	names := func() []string {
		return value[[]string](b, `[...document.querySelectorAll('.cards tbody tr:not(.head):not(.rest) > th')].map((e) => e.innerText.split(/\s/)[0])`)
	}
	t.Run("runs of one program and cause stand together, with their trend", func(t *testing.T) {
		visit("", `document.querySelectorAll('.cards .head').length === 2`)
		heads := value[[]string](b, `[...document.querySelectorAll('.cards .head')].map((e) => e.innerText.replace(/\s+/g, ' ').trim())`)
		if want := []string{"auth healthy 2 runs; peak 80.0 MiB \u2192 81.0 MiB flat",
			"shop leak hw-aaaaaa 7 runs, 7 killed; peak 100.0 MiB \u2192 400.0 MiB rising"}; !slices.Equal(heads, want) {
			t.Errorf("groups %q, want %q", heads, want)
		}
		if got := value[string](b, `document.querySelectorAll('.cards .head .spark')[1].ariaLabel`); !strings.HasPrefix(got,
			"peaks of 7 runs, oldest first: 100.0 MiB, 150.0 MiB") {
			t.Errorf("the trend is drawn as %q", got)
		}
		if got := names(); !slices.Contains(got, "shop-7") || slices.Contains(got, "shop-1") {
			t.Errorf("the newest runs of a large group are listed at first: %q", got)
		}
		b.click("Show 2 more of shop")
		b.until(`[...document.querySelectorAll('.cards th a')].some((e) => e.innerText === 'shop-1')`)
	})
	t.Run("a column sorts, and sorts the other way", func(t *testing.T) {
		visit("#flat", `document.querySelectorAll('.cards tbody tr').length === 11`)
		b.click("Peak")
		b.until(`location.hash.includes('sort=peak')`)
		got := names()
		if !slices.Equal(got[:3], []string{"shop-7", "shop-6", "shop-5"}) || got[len(got)-1] != "broken-1" {
			t.Errorf("by peak: %q", got)
		}
		if order := value[string](b, `document.querySelector('.cards [aria-sort]').ariaSort`); order != "descending" {
			t.Errorf("the column says %q", order)
		}
		b.click("Peak \u25be")
		b.until(`location.hash.includes('turned')`)
		if got = names(); !slices.Equal(got[:3], []string{"auth-1", "auth-2", "batch-1"}) || got[len(got)-1] != "broken-1" {
			t.Errorf("by peak, the least first: %q", got)
		}
		b.click("Recording")
		b.until(`location.hash.includes('sort=name')`)
		if got = names(); !slices.IsSorted(got) {
			t.Errorf("by name: %q", got)
		}
	})
	t.Run("the address holds what is shown", func(t *testing.T) {
		visit("#sort=peak&find=auth", `document.querySelectorAll('.cards tbody tr:not(.head)').length === 2`)
		if got := names(); !slices.Equal(got, []string{"auth-2", "auth-1"}) {
			t.Errorf("%q", got)
		}
	})
	t.Run("it fits every screen, and nobody is kept out", func(t *testing.T) {
		visit("", `document.querySelectorAll('.cards .head').length === 2`)
		b.legible(t, "groups")
		for _, scheme := range []string{"light", "dark"} {
			b.media("prefers-color-scheme", scheme)
			b.accessible()
		}
		b.do(chromedp.EmulateViewport(360, 800))
		b.until(`document.querySelector('select').checkVisibility()`)
		b.accessible()
	})
	b.quiet(address)
}

func TestWhoWroteNativeMemoryFirstIsATab(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Chromium)
	address := serve(t, faulting(t))
	b := browser(t)
	b.open(address)
	b.click("First written by")
	b.until(`location.hash.includes('view=written') && document.querySelector('.holders tbody th').innerText.startsWith('decoder/decode.go:7')`)
	if got := b.text("#who-title"); !strings.Contains(got, "of native memory; 880 page faults sampled") {
		t.Errorf("the heading says %q", got)
	}
	if got := b.text(".holders .lines"); !strings.Contains(got, "C: malloc") || !strings.Contains(got, "a thread of C") {
		t.Errorf("C's functions are not named: %q", got)
	}
	value[bool](b,
		`((e) => { e.click(); return true })([...document.querySelectorAll('.holders button')].find((e) => e.innerText.startsWith('Go heap and stacks')))`)
	b.until(`location.hash.includes('kind=heap') && document.querySelector('.holders tbody th').innerText.startsWith('decoder/main.go:9')`)
	b.accessible()
}
