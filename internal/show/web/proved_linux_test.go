package web_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
)

// What a trial has found of the fault is on the page of every recording of it.
func TestAFixThatWasProvedIsShownWithItsFigures(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Chromium, hwtest.Root, hwtest.Cgroup, hwtest.Ptrace)
	state := t.TempDir()
	kept, leak := filepath.Join(t.TempDir(), "kept"), testprog(t, "leak")
	try := in(t, state, "try", "--limit", "48MiB", "--runs", "4", "--keep-all", "-o", kept,
		"base="+leak+" -rate 7MiB", "new="+testprog(t, "steady")+" -live 8MiB -for 100ms")
	if out, err := try.CombinedOutput(); err != nil || !strings.Contains(string(out), "proved: 0 of 4 lost") {
		t.Fatalf("%v: %s", err, out)
	}
	bases, err := filepath.Glob(filepath.Join(kept, "base-*.hwm"))
	if err != nil || len(bases) == 0 {
		t.Fatalf("no recording of the base is kept: %v", err)
	}
	// A rise of less than 3 s is not called a leak, so the leak is slow. On a busy machine not
	// every run of the base is said to have the same fault.
	path := ""
	for _, one := range bases {
		if out, _ := in(t, state, "explain", one).CombinedOutput(); strings.Contains(strings.Join(strings.Fields(string(out)), " "), "Proved: by new of kept") {
			path = one
		}
	}
	if path == "" {
		t.Fatalf("none of %q is explained with the proof", bases)
	}
	b := browser(t)
	b.open(serveOf(t, state, path))
	b.until(`document.querySelector('.fix .chip.proved')?.innerText === 'proved'`)
	fix := value[string](b, `document.querySelector('.fix:has(.chip.proved)').innerText`)
	for _, want := range []string{"A", "by new of kept", "0 of 4 lost, against 4 of 4", "p=0.029"} {
		if !strings.Contains(fix, want) {
			t.Errorf("%q is not in %q", want, fix)
		}
	}
	b.accessible()
}

func TestTheListComparesTwo(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Chromium, hwtest.Ptrace)
	state := t.TempDir()
	for range 2 {
		if out, err := in(t, state, "run", "--", testprog(t, "steady"), "-for", "1s").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	b := browser(t)
	b.do(chromedp.Navigate(serveOf(t, state)))
	b.until(`document.querySelectorAll('tbody tr:not(.head)').length === 2`)
	b.accessible()
	if row := b.text("tbody tr:not(.head)"); !strings.Contains(row, "MiB") {
		t.Errorf("no peak in the list: %q", row)
	}
	b.do(chromedp.SendKeys("#search", "Steady-2"))
	b.until(`document.querySelectorAll('tbody tr:not(.head)').length === 1 && document.querySelector('tbody a').innerText === 'steady-2'`)
	b.do(chromedp.SendKeys("#search", "2"))
	b.until(`!document.querySelector('table') && document.querySelector('main').innerText.includes('No recording matches')`)
	b.do(chromedp.SendKeys("#search", kb.Backspace+kb.Backspace+kb.Backspace))
	b.until(`document.querySelectorAll('tbody tr:not(.head)').length === 2`)
	b.do(chromedp.Click("tbody tr:nth-child(2) input"), chromedp.Click("tbody tr:nth-child(3) input"))
	b.until(`document.querySelector('a.button')?.innerText === 'Compare steady-1 with steady-2'`)
	b.do(chromedp.Click("a.button"))
	b.until(`document.querySelector('h1 + p')?.innerText === 'steady-2 compared with steady-1' && document.querySelectorAll('.side tbody tr').length > 3`)
	if got := b.text("h1"); !regexp.MustCompile(`^[+\x{2212}][\d.]+ \w+(, mostly [a-zA-Z ]+ \([+\x{2212}][\d.]+ \w+\))?$`).MatchString(got) {
		t.Errorf("the headline is %q", got)
	}
	b.until(`document.querySelectorAll('[aria-labelledby=flame-title] .icicle [role=treeitem]').length > 1`)
	for _, scheme := range []string{"dark", "light"} {
		b.media("prefers-color-scheme", scheme)
		b.accessible()
	}
	for _, part := range value[[]string](b, `[...document.querySelectorAll('section[aria-labelledby=where-title] tbody tr:not(.on) th')].map((e) => e.innerText)`) {
		if part == "" {
			t.Error("a row of the ledger has no name")
		}
	}
	b.do(chromedp.NavigateBack())
	b.until(`document.querySelector('tbody a')`)
	b.do(chromedp.Click("tbody a"))
	b.until(`document.querySelector('.ledger')`)
}
