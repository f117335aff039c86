#!/bin/sh
# Puts Debian's ClickHouse server, with those of its libraries that this machine has
# not, into the tests' cache: unpacked and not installed, so that no service is set up.
# Needs apt-get and dpkg-deb; the machine's own packages stay as they are.
set -eu

cache=${HIGHWATER_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/highwater-test}
dir=$cache/clickhouse
[ ! -e "$dir/usr/sbin/clickhouse-server" ] || exit 0

temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
mkdir -p "$temp/state/lists/partial" "$temp/cache/archives/partial" "$temp/root"
chown -R _apt "$temp" 2>/dev/null || true # apt downloads as its own user
apt="-o Dir::State=$temp/state -o Dir::State::status=/var/lib/dpkg/status -o Dir::Cache=$temp/cache"
apt-get $apt update -q
apt-get $apt install -q -y --no-install-recommends --download-only clickhouse-server
for package in "$temp"/cache/archives/*.deb; do
	dpkg-deb --fsys-tarfile "$package" | tar -x -C "$temp/root" --exclude=./etc --exclude=./usr/share
done
rm -rf "$dir"
mkdir -p "$cache"
mv "$temp/root" "$dir"
