#!/usr/bin/env bash
# Builds Pyroscope of the version below from its module into pyroscope in the tests' cache, and prints the program. It is
# the newest release that the module proxy has. The first time it takes minutes: six of a processor's.
#
# Its API is a module of its own that its go.mod takes from the directory beside it, which the module is without: the
# release of it that has the same services takes its place. The checksum database does not have the server, so its sum
# is here. Its hash tables name a variable of the runtime that the linker lets nobody name any more, unless told to.
set -euo pipefail

version=1.21.0 api=1.5.0
sum=h1:gl3BW590dYzXqjJBkg6Ofp0tM5b4WfxFmNaPfTpyO/U=

go=${GO:-go}
cache=${HIGHWATER_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/highwater-test}
bin=$cache/pyroscope/$version
if [ ! -x "$bin/pyroscope" ]; then
	mkdir -p "$bin"
	temp=$(mktemp -d)
	trap 'chmod -R u+w "$temp"; rm -rf "$temp"' EXIT
	said=$(cd "$temp" && GONOSUMDB=github.com/grafana/pyroscope "$go" mod download -json "github.com/grafana/pyroscope@v$version")
	grep -qF "\"$sum\"" <<<"$said" || { echo "Pyroscope $version is not the one whose sum is known: $said" >&2; exit 1; }
	dir=$(sed -n 's/.*"Dir": "\(.*\)".*/\1/p' <<<"$said")
	cp -r "$dir" "$temp/pyroscope"
	chmod -R u+w "$temp/pyroscope"
	cd "$temp/pyroscope"
	rm -f go.work go.work.sum
	"$go" mod edit -dropreplace github.com/grafana/pyroscope/api -require "github.com/grafana/pyroscope/api@v$api"
	CGO_ENABLED=0 GOFLAGS=-mod=mod "$go" build -trimpath -ldflags '-s -w -checklinkname=0' -o "$bin/" ./cmd/pyroscope >"$bin/build.log" 2>&1 || { tail -5 "$bin/build.log" >&2; exit 1; }
fi
echo "$bin/pyroscope"
