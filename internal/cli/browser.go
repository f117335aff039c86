package cli

import (
	"errors"
	"os"
	"os/exec"
)

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
