// Release makes what is published of a version, from the commit that is checked out:
//
//	release [-from DIR] [-targets OS/ARCH,...] -o DIR
//
// For linux, darwin and windows on amd64 and arm64 that is an archive with the static program, its manual
// pages and completions; for linux also a deb, an rpm and an apk, and two images, empty and with
// a shell, each as an archive of OCI's layout. Beside them are a bill of materials of each program (CycloneDX), a
// formula for Homebrew, and SHA256SUMS of all. Nothing is uploaded, and neither a daemon nor root is needed.
//
// The version is the one that the go command stamps: the tag of the commit, else a pseudo-version.
// What is not committed is not in it. All times are the commit's, so that two builds by the same release of Go
// have the same bytes.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	from := flag.String("from", ".", "the repository's `directory`")
	to := flag.String("o", "", "make and fill this `directory`, which must not exist")
	only := flag.String("targets", "", "make these `targets` alone, with the one of this machine: linux/amd64,linux/arm64")
	flag.Parse()
	if err := run(*from, *to, *only); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(from, to, only string) error {
	if to == "" || flag.NArg() > 0 {
		return fmt.Errorf("usage: release [-from DIR] [-targets OS/ARCH,...] -o DIR")
	}
	targets, err := targetsOf(only)
	if err != nil {
		return err
	}
	if err := os.Mkdir(to, 0o755); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "highwater-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	r := &release{from: from, to: to, work: work, targets: targets}
	for _, step := range []func() error{r.clone, r.build, r.documents, r.archives, r.packages, r.images, r.bills, r.formula, r.sums} {
		if err := step(); err != nil {
			return err
		}
	}
	fmt.Printf("%s: %s\n", r.version, to)
	return nil
}

// file is something to be packed: where it is, and where it belongs.
type file struct {
	source string
	path   string // with slashes, without a leading one
	mode   os.FileMode
}

// name is a published file's path: "highwater_1.2.3_linux_amd64.tar.gz".
func (r *release) name(rest string) string {
	return filepath.Join(r.to, "highwater_"+r.plain()+rest)
}
