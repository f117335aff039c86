// Command picture takes the pictures of docs/pictures: what a recording's page shows at
// 1440 x 900 without scrolling, in a headless Chromium; with -size and -whole at
// another size, and all of it.
//
//	go run ./internal/aside/bench/picture -o docs/pictures/picoshare.png picoshare.hwm
//	go run ./internal/aside/bench/picture -o docs/pictures/compare.png before.hwm after.hwm
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
)

type picture struct {
	tool, out, at, below, scheme, source string
	width, height                        int
	whole                                bool
}

func main() {
	var p picture
	flag.StringVar(&p.tool, "tool", "bin/highwater", "`program` that opens the recording")
	flag.StringVar(&p.out, "o", "page.png", "`file` to write")
	flag.StringVar(&p.at, "state", "", "state of the page, as its `address` has it after the #")
	flag.StringVar(&p.below, "show", "", "`selector` of what is scrolled to, below the first screen")
	flag.StringVar(&p.scheme, "scheme", "light", "light or dark")
	flag.StringVar(&p.source, "source", "", "`directory` of the program's source")
	flag.IntVar(&p.width, "width", 1440, "`pixels`")
	flag.IntVar(&p.height, "height", 900, "`pixels`")
	flag.BoolVar(&p.whole, "whole", false, "the whole page, not its first screen alone")
	flag.Parse()
	if flag.NArg() < 1 || flag.NArg() > 2 {
		fmt.Fprintln(os.Stderr, "picture [flags] RECORDING [AFTER]")
		os.Exit(2)
	}
	if err := p.take(flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

// take serves the recordings, as a user would, and writes what the browser shows: of
// two, how they differ.
func (p picture) take(recordings []string) (err error) {
	server := exec.Command(p.tool, "open", "--no-browser", "--source", p.source)
	if len(recordings) == 1 {
		server.Args = append(server.Args, recordings[0])
	} else {
		state, err := stateOf(recordings)
		if err != nil {
			return err
		}
		defer os.RemoveAll(state)
		server.Env = append(os.Environ(), "XDG_STATE_HOME="+state)
	}
	server.Stderr = os.Stderr
	out, err := server.StdoutPipe()
	if err != nil {
		return err
	}
	if err := server.Start(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Process.Signal(os.Interrupt), server.Wait()) }()
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return err
	}
	address = strings.TrimSpace(address)
	if len(recordings) == 2 {
		address += "diff?before=" + url.QueryEscape(name(recordings[0])) + "&after=" + url.QueryEscape(name(recordings[1]))
	}
	png, err := p.shot(address)
	if err != nil {
		return err
	}
	return os.WriteFile(p.out, png, 0o644)
}

// name is what a recording is called in the list.
func name(recording string) string { return strings.TrimSuffix(filepath.Base(recording), ".hwm") }

// stateOf is a state directory that holds copies of the recordings.
func stateOf(recordings []string) (string, error) {
	state, err := os.MkdirTemp("", "picture")
	if err != nil {
		return "", err
	}
	dir := filepath.Join(state, "highwater")
	err = os.Mkdir(dir, 0o700)
	for _, r := range recordings {
		text, one := os.ReadFile(r)
		err = errors.Join(err, one, os.WriteFile(filepath.Join(dir, filepath.Base(r)), text, 0o600))
	}
	return state, err
}

// shown is true when the first screen is drawn, and what is below it; of a comparison, its
// flame graph.
const shown = `document.querySelector('table.side') && document.querySelector('.icicle') || document.querySelector('.ledger') && document.querySelector('.plot canvas') && document.querySelector('.below') && !document.querySelector('.holders').innerText.includes('Loading')`

func (p picture) shot(address string) ([]byte, error) {
	chromium, err := hwtest.ChromiumPath()
	if err != nil {
		return nil, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.WindowSize(p.width, p.height), chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("force-color-profile", "srgb"))
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	defer stop()
	ctx, cancel := chromedp.NewContext(allocator)
	defer cancel()
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: p.scheme}}}
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(int64(p.width), int64(p.height))); err != nil {
		return nil, err
	}
	if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, media); err != nil {
		return nil, err
	}
	if err := chromedp.Do(ctx, chromedp.Navigate(address+"#"+p.at)); err != nil {
		return nil, err
	}
	// Two frames after it is drawn it is on screen.
	wait := fmt.Sprintf(`new Promise((done) => { const look = () => { if (!(%s)) return requestAnimationFrame(look)
		if (%q) document.querySelector(%q).scrollIntoView()
		requestAnimationFrame(() => requestAnimationFrame(() => done(true))) }; look() })`, shown, p.below, p.below)
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[bool](wait, chromedp.EvalAwaitPromise)); err != nil {
		return nil, err
	}
	if p.whole {
		return chromedp.Run(ctx, chromedp.FullScreenshot(100))
	}
	return chromedp.Run(ctx, chromedp.CaptureScreenshot())
}
