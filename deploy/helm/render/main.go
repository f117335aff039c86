// Command render prints what the chart makes of values, as helm template does: render NAMESPACE [VALUES.yaml].
package main

import (
	"fmt"
	"os"

	"github.com/highwater-go/highwater/deploy/helm"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: render NAMESPACE [VALUES.yaml]")
		os.Exit(2)
	}
	var values []byte
	var err error
	if len(os.Args) > 2 {
		values, err = os.ReadFile(os.Args[2])
	}
	text := ""
	if err == nil {
		text, err = helm.Render("highwater", os.Args[1], values)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Print(text)
}
