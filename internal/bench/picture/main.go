// Command picture takes the pictures of docs/pictures: what a recording's page shows at
// 1440 x 900 without scrolling, in a headless Chromium.
//
//	go run ./internal/bench/picture -o docs/pictures/picoshare.png picoshare.hwm
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/highwater-go/highwater/internal/hwtest"
)

type picture struct {
	tool, out, at, below, scheme, source string
}

func main() {
	var p picture
	flag.StringVar(&p.tool, "tool", "bin/highwater", "`program` that opens the recording")
	flag.StringVar(&p.out, "o", "page.png", "`file` to write")
	flag.StringVar(&p.at, "state", "", "state of the page, as its `address` has it after the #")
	flag.StringVar(&p.below, "show", "", "`selector` of what is scrolled to, below the first screen")
	flag.StringVar(&p.scheme, "scheme", "light", "light or dark")
	flag.StringVar(&p.source, "source", "", "`directory` of the program's source")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "picture [flags] RECORDING")
		os.Exit(2)
	}
	if err := p.take(flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

// take serves the recording, as a user would, and writes what the browser shows.
func (p picture) take(recording string) (err error) {
	server := exec.Command(p.tool, "open", "--no-browser", "--source", p.source, recording)
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
	png, err := p.shot(strings.TrimSpace(address))
	if err != nil {
		return err
	}
	return os.WriteFile(p.out, png, 0o644)
}

// shown is true when the first screen is drawn, and what is below it.
const shown = `document.querySelector('.ledger') && document.querySelector('.plot canvas') && document.querySelector('.below') && !document.querySelector('.holders').innerText.includes('being read')`

func (p picture) shot(address string) ([]byte, error) {
	chromium, err := hwtest.ChromiumPath()
	if err != nil {
		return nil, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.WindowSize(1440, 900), chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("force-color-profile", "srgb"))
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	defer stop()
	ctx, cancel := chromedp.NewContext(allocator)
	defer cancel()
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: p.scheme}}}
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(1440, 900)); err != nil {
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
	return chromedp.Run(ctx, chromedp.CaptureScreenshot())
}
