// Highwater tells why a Go program used the memory it did.
package main

import (
	"os"

	"github.com/highwater-go/highwater/internal/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
