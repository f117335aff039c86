#!/bin/sh
# Puts a small Debian with systemd and a user of its own into systemd-root in the
# tests' cache, for hwtest.Guest: what a laptop or a server has and a container
# lacks. Needs root and debootstrap.
set -eu

cache=${HIGHWATER_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/highwater-test}
dir=$cache/systemd-root
if [ -e "$dir/sbin/init" ]; then
	exit 0
fi

mkdir -p "$cache"
temp=$(mktemp -d "$cache/systemd-root.XXXXXX")
trap 'rm -rf "$temp"' EXIT
chmod 755 "$temp"
debootstrap --variant=minbase --include=systemd,systemd-sysv,dbus,dbus-user-session,libpam-systemd bookworm "$temp"

chroot "$temp" useradd --create-home --uid 1000 user
mkdir -p "$temp/var/lib/systemd/linger"
touch "$temp/var/lib/systemd/linger/user" # the user's systemd starts at boot
chroot "$temp" systemctl mask --quiet getty.target systemd-timesyncd.service systemd-random-seed.service \
	apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer fstrim.timer
rm -rf "$temp"/var/cache/apt/* "$temp"/var/lib/apt/lists/* "$temp"/usr/share/doc "$temp"/usr/share/locale "$temp"/usr/share/man
mv "$temp" "$dir"
trap - EXIT
