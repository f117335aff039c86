#!/bin/sh
# Puts a kernel for hwtest.Guest into the directory that HIGHWATER_KERNEL names,
# by default kernel in the tests' cache: Debian's for virtual machines, unpacked
# and not installed. Needs apt-get, with its lists up to date, and dpkg-deb.
set -eu

cache=${HIGHWATER_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/highwater-test}
dir=${HIGHWATER_KERNEL:-$cache/kernel}
if ls "$dir"/boot/vmlinuz-* >/dev/null 2>&1; then
	exit 0
fi

temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
chown _apt "$temp" 2>/dev/null || true # apt downloads as its own user

cd "$temp"
package=$(apt-cache depends linux-image-cloud-amd64 | awk '/Depends: linux-image-/ {print $2; exit}')
apt-get download -q "$package"
dpkg-deb --fsys-tarfile "$package"_*.deb | tar -x ./boot
mkdir -p "$dir"
mv boot "$dir/"
