#!/bin/sh
# Puts chDB, ClickHouse's current engine as a library of Python, into the tests' cache: unpacked from its
# wheel, 530 MB, and not installed. Needs pip.
set -eu

cache=${HIGHWATER_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/highwater-test}
[ ! -d "$cache/chdb/chdb" ] || exit 0

temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
python3 -m pip download -q --no-deps --disable-pip-version-check -d "$temp" chdb-core==26.9.0
python3 -m zipfile -e "$temp"/*.whl "$temp/wheel"
rm -rf "$cache/chdb"
mv "$temp/wheel" "$cache/chdb"
