package main

import (
	"os"
	"path/filepath"

	"github.com/goreleaser/nfpm/v2"
	"github.com/goreleaser/nfpm/v2/apk"
	"github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	"github.com/goreleaser/nfpm/v2/rpm"
)

// removed says, when the package is removed for good, what stays. dpkg calls it with
// "remove", rpm with the number of versions that are left, apk with a version.
const removed = `#!/bin/sh
case "${1:-}" in
upgrade | failed-upgrade | abort-* | disappear | purge | [1-9] | [1-9][0-9]) exit 0 ;;
esac
echo "highwater: recordings stay where they were made, by default in ~/.local/state/highwater of each user; remove them by hand"
`

// owned are directories that a system may not have without this package. rpm leaves those behind that no package
// names.
var owned = []string{"/usr/share/doc/highwater", "/usr/share/fish", "/usr/share/fish/vendor_completions.d"}

// packages makes a deb, an rpm and an apk for each architecture of linux.
func (r *release) packages() error {
	script := filepath.Join(r.work, "removed.sh")
	if err := os.WriteFile(script, []byte(removed), 0o755); err != nil {
		return err
	}
	if err := os.Chtimes(script, r.at, r.at); err != nil { // an apk has the time of the file
		return err
	}
	for _, t := range r.targets {
		if t.os != "linux" {
			continue
		}
		for suffix, packager := range map[string]nfpm.Packager{".deb": deb.Default, ".rpm": rpm.DefaultRPM, ".apk": apk.Default} {
			if err := r.packageOf(t, suffix, packager, script); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *release) packageOf(t target, suffix string, packager nfpm.Packager, script string) (err error) {
	info := &nfpm.Info{
		Name: "highwater", Arch: t.arch, Platform: "linux", Version: r.version, VersionSchema: "semver", Release: "1", Section: "devel", Priority: "optional",
		Maintainer: "The Highwater authors <highwater@example.invalid>", License: "Apache-2.0", Homepage: "https://github.com/highwater-go/highwater",
		Description: "Tells why a Go program used the memory it did\nIt runs a Go program or joins one that runs, records its memory from outside, and names the limit, the line and the fix.",
		MTime:       r.at,
		Overridables: nfpm.Overridables{
			Scripts: nfpm.Scripts{PostRemove: script},
			RPM:     nfpm.RPM{BuildHost: "localhost", Summary: "Tells why a Go program used the memory it did"},
		},
	}
	for _, f := range r.inOrder(t, "bin/highwater") {
		info.Contents = append(info.Contents, &files.Content{Source: f.source, Destination: "/usr/" + f.path,
			FileInfo: &files.ContentFileInfo{Mode: f.mode, MTime: r.at, Owner: "root", Group: "root"}})
	}
	for _, dir := range owned {
		info.Contents = append(info.Contents, &files.Content{Destination: dir, Type: files.TypeDir,
			FileInfo: &files.ContentFileInfo{Mode: 0o755, MTime: r.at, Owner: "root", Group: "root"}})
	}
	info = nfpm.WithDefaults(info)
	if err := nfpm.PrepareForPackager(info, suffix[1:]); err != nil {
		return err
	}
	out, err := os.Create(r.name("_" + t.String() + suffix))
	if err != nil {
		return err
	}
	defer func() {
		if closed := out.Close(); err == nil {
			err = closed
		}
	}()
	return packager.Package(info, out)
}
