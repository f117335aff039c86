// Portable checks that packages compile for systems that nothing is run on here, from their sources and those of all that they
// need: "portable -C DIR OS/ARCH,... PACKAGE...". Nothing is compiled, so that it takes seconds where go vet takes most of a minute;
// a release is what builds for all of them.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	dir := flag.String("C", ".", "the module's `folder`")
	flag.Parse()
	if flag.NArg() < 2 {
		fmt.Fprintln(os.Stderr, "usage: portable [-C DIR] OS/ARCH,... PACKAGE...")
		os.Exit(2)
	}
	for target := range strings.SplitSeq(flag.Arg(0), ",") {
		if err := check(*dir, target, flag.Args()[1:]); err != nil {
			fmt.Fprintf(os.Stderr, "portable: %s: %v\n", target, err)
			os.Exit(1)
		}
	}
}

// check is what the compiler would complain about for "linux/arm64" and its like: the first twenty such errors.
func check(dir, target string, patterns []string) error {
	system, arch, ok := strings.Cut(target, "/")
	if !ok {
		return errors.New("want an operating system and an architecture, such as darwin/arm64")
	}
	config := &packages.Config{Mode: packages.LoadAllSyntax, Dir: dir, Env: append(os.Environ(), "GOOS="+system, "GOARCH="+arch, "CGO_ENABLED=0", "GOFLAGS=")}
	list, err := packages.Load(config, patterns...)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return fmt.Errorf("no packages match %s", strings.Join(patterns, " "))
	}
	var found []error
	packages.Visit(list, nil, func(p *packages.Package) {
		for _, e := range p.Errors {
			found = append(found, e)
		}
	})
	return errors.Join(found[:min(len(found), 20)]...)
}
