#!/bin/sh
# Puts kernels for hwtest.Guest into the tests' cache: Debian's for virtual
# machines, unpacked and not installed, of the architectures given as arguments;
# amd64-5.10 is Debian 11's.
# Needs apt-get and dpkg-deb; apt's own state and lists stay as they are.
set -eu

cache=${HIGHWATER_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/highwater-test}

fetch() {
	arch=${1%-5.10} dir=$cache/kernel-$1
	if ls "$dir"/boot/vmlinuz-* >/dev/null 2>&1; then
		return
	fi
	temp=$(mktemp -d)
	trap 'rm -rf "$temp"' EXIT
	mkdir -p "$temp/state/lists/partial" "$temp/cache/archives/partial"
	chown -R _apt "$temp" 2>/dev/null || true # apt downloads as its own user
	cd "$temp"
	apt="-o APT::Architecture=$arch -o APT::Architectures=$arch -o Dir::State=$temp/state -o Dir::State::status=/dev/null -o Dir::Cache=$temp/cache"
	if [ "$arch" != "$1" ]; then
		for of in debian debian-security; do
			suite=bullseye
			[ "$of" = debian ] || suite=bullseye-security
			echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/$of $suite main" >>"$temp/sources.list"
		done
		apt="$apt -o Dir::Etc::sourcelist=$temp/sources.list -o Dir::Etc::sourceparts=/dev/null"
	fi
	apt-get $apt update -q
	package=$(apt-cache $apt depends "linux-image-cloud-$arch" | awk '/Depends: linux-image-/ {print $2; exit}')
	apt-get $apt download -q "$package"
	dpkg-deb --fsys-tarfile "$package"_*.deb | tar -x ./boot
	mkdir -p "$dir"
	mv boot "$dir/"
	rm -rf "$temp"
}

for arch; do
	fetch "$arch"
done
