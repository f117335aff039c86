#!/usr/bin/env bash
# Builds Parca of the version below from its module into parca in the tests' cache, and prints the program. It is
# the newest release that the module proxy has. The first time it takes minutes.
#
# The module is without the built page, which the program embeds: a stand-in takes its place. Its
# hash tables name a variable of the runtime that the linker lets nobody name any more, unless told to.
set -euo pipefail

version=0.16.2

go=${GO:-go}
cache=${HIGHWATER_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/highwater-test}
bin=$cache/parca/$version
if [ ! -x "$bin/parca" ]; then
	mkdir -p "$bin"
	temp=$(mktemp -d)
	trap 'chmod -R u+w "$temp"; rm -rf "$temp"' EXIT
	dir=$("$go" mod download -json "github.com/parca-dev/parca@v$version" | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
	cp -r "$dir" "$temp/parca"
	chmod -R u+w "$temp/parca"
	cd "$temp/parca"
	mkdir -p ui/packages/app/web/build
	echo '<html></html>' >ui/packages/app/web/build/index.html
	CGO_ENABLED=0 GOFLAGS=-mod=mod "$go" build -trimpath -ldflags '-s -w -checklinkname=0' -o "$bin/" ./cmd/parca >"$bin/build.log" 2>&1 || { tail -5 "$bin/build.log" >&2; exit 1; }
fi
echo "$bin/parca"
