package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/highwater-go/highwater/cases/internal/need"
)

// The page's script and its content security policy are tried where they are
// meant to work: a person logs in, uploads a file, follows its link, deletes it.
func TestThePageWorksInABrowser(t *testing.T) {
	s := newSite(t, nil)
	tab := browser(t)
	content := some(chunkSize + 7)
	name := filepath.Join(t.TempDir(), "holiday photo.bin")
	if err := os.WriteFile(name, content, 0o644); err != nil {
		t.Fatal(err)
	}
	do(t, tab,
		chromedp.Navigate(s.url),
		chromedp.SendKeys(chromedp.CSS("input[name=secret]"), "open sesame"),
		chromedp.Click(chromedp.CSS("form[action='/login'] button")),
		chromedp.WaitVisible(chromedp.CSS("#upload")),
	)
	says(t, tab, "tbody", "Nothing yet.")
	do(t, tab,
		chromedp.SetUploadFiles(chromedp.CSS("input[name=file]"), []string{name}),
		chromedp.Click(chromedp.CSS("#upload button")),
		chromedp.WaitVisible(chromedp.CSS("tbody a")),
	)
	says(t, tab, "tbody a", "holiday photo.bin")
	const followed = `fetch(document.querySelector("tbody a").href).then(r => r.arrayBuffer()).then(b => b.byteLength)`
	if n, err := chromedp.Run(tab, chromedp.Evaluate[int](followed, chromedp.EvalAwaitPromise)); err != nil || n != len(content) {
		t.Errorf("the link leads to %d bytes, %v; want %d", n, err, len(content))
	}
	do(t, tab,
		chromedp.Click(chromedp.CSS("[data-remove]")),
		chromedp.WaitNotPresent(chromedp.CSS("tbody a")),
	)
	says(t, tab, "tbody", "Nothing yet.")
	do(t, tab,
		chromedp.Click(chromedp.CSS("form[action='/logout'] button")),
		chromedp.WaitVisible(chromedp.CSS("input[name=secret]")),
	)
}

func do(t *testing.T, tab context.Context, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(tab, steps...); err != nil {
		t.Fatal(err)
	}
}

func says(t *testing.T, tab context.Context, selector, want string) {
	t.Helper()
	got, err := chromedp.Run(tab, chromedp.Text(chromedp.CSS(selector)))
	if err != nil || got != want {
		t.Errorf("%s says %q, %v; want %q", selector, got, err, want)
	}
}

// browser is a tab of a headless Chromium.
func browser(t *testing.T) context.Context {
	t.Helper()
	path, err := chromium()
	need.Permission(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	// Root's Chromium refuses its own sandbox; it opens this test's page only.
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.UserDataDir(t.TempDir()), chromedp.NoSandbox,
		chromedp.WSURLReadTimeout(2*time.Minute))
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	return ctx
}

func chromium() (string, error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("no chromium is installed: %w", errors.ErrUnsupported)
}
