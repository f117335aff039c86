package app

import (
	"errors"
	"fmt"
	"html"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/highwater-go/highwater/internal/files/outfile"
)

// redirect is a page that leads to an address, which is in it twice.
const redirect = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0;url=%[1]s"><title>Highwater</title></head>
<body><p><a href="%[1]s">Highwater</a></p></body></html>
`

// openBrowser shows an address in the user's browser. The address holds a secret, and
// arguments are read by every user of the machine: the browser is given a file that
// leads there, which only this user may read. remove takes the file away.
func openBrowser(address string) (remove func(), err error) {
	dir, err := os.MkdirTemp("", "highwater-open-") // of mode 0700
	if err != nil {
		return func() {}, err
	}
	remove = func() { _ = os.RemoveAll(dir) }
	file := filepath.Join(dir, "open.html")
	if err := writeRedirect(file, address); err != nil {
		return remove, err
	}
	return remove, startBrowser("file://" + filepath.ToSlash(file))
}

func writeRedirect(file, address string) error {
	err := outfile.Write(file, func(w io.Writer) error {
		_, err := io.WriteString(w, fmt.Sprintf(redirect, html.EscapeString(address)))
		return err
	})
	if err != nil {
		return fmt.Errorf("write the file for the browser: %w", err)
	}
	return nil
}

// startBrowser opens an address in the user's browser: $BROWSER, else what the
// desktop has for it. Nothing is started where there is no desktop to show it on.
func startBrowser(address string) error {
	candidates := desktopOpeners()
	if own := os.Getenv("BROWSER"); own != "" {
		candidates = append([][]string{{own}}, candidates...)
	} else if !hasDesktop() {
		return errors.New("there is no display here")
	}
	for _, c := range candidates {
		path, err := exec.LookPath(c[0])
		if err != nil {
			continue
		}
		cmd := exec.Command(path, append(c[1:], address)...)
		if err := cmd.Start(); err != nil {
			continue
		}
		go func() { _ = cmd.Wait() }() // it may live as long as the browser
		return nil
	}
	return errors.New("none was found; $BROWSER names one")
}
