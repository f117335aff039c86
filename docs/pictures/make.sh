#!/bin/sh
# Takes all pictures of docs/pictures: records the small programs with a known fault, and
# takes what the page shows in a headless Chromium. Needs root or a delegated cgroup (--limit),
# Chromium, and about two minutes. PORT chooses another port than 18083. As root the sources are
# in a /srv of the script's own, since the pictures show where they are.
set -eu
cd "$(dirname "$0")/../.."
if [ "$(id -u)" -eq 0 ] && [ -z "${PICTURES_IN_SRV:-}" ]; then
	PICTURES_IN_SRV=1 exec unshare --mount sh -c 'mount -t tmpfs none /srv && exec ./docs/pictures/make.sh'
fi
go=${GO:-go} port=${PORT:-18083} out=docs/pictures
work=${TMPDIR:-/tmp}/highwater-pictures
[ -z "${PICTURES_IN_SRV:-}" ] || work=/srv
mkdir -p "$work"
trap 'rm -rf "$work"/*' EXIT
CGO_ENABLED=0 "$go" build -trimpath -o "$work/highwater" ./cmd/highwater
"$go" build -o "$work/picture" ./internal/aside/bench/picture
cp -R examples internal/aside/testprog "$work"
(cd "$work/examples/sessions" && "$go" build -o "$work/sessions" . && "$go" build -o "$work/load" ./load)
(cd "$work/testprog" && for p in garbage goroutines mmapper; do "$go" build -o "$work/$p" "./$p"; done)

# record NAME CODE FLAGS... -- PROGRAM: a recording of a run that ends with CODE.
record() {
	name=$1 want=$2 code=0
	shift 2
	"$work/highwater" run -q -o "$work/$name.hwm" "$@" >/dev/null || code=$?
	[ "$code" -eq "$want" ] || { echo "$name ended with code $code, not $want" >&2; exit 1; }
}
serve="--ready http://127.0.0.1:$port/healthz"
record leak 137 --limit 128MiB $serve --load "$work/load -addr 127.0.0.1:$port -for 5m" -- "$work/sessions" -addr "127.0.0.1:$port"
record before 0 $serve --load "$work/load -addr 127.0.0.1:$port -for 6s" -- "$work/sessions" -addr "127.0.0.1:$port" -fixed
record after 0 $serve --load "$work/load -addr 127.0.0.1:$port -for 6s" -- "$work/sessions" -addr "127.0.0.1:$port"
record garbage 137 --limit 100MiB -- "$work/garbage" -live 56MiB -for 60s
record goroutines 0 --for 15s -- "$work/goroutines" -rate 1500
record native 137 --limit 128MiB -- "$work/mmapper"

# take FILE FLAGS... RECORDING...
take() {
	file=$1
	shift
	"$work/picture" -tool "$work/highwater" -o "$out/$file" "$@" 2>/dev/null
	echo "$out/$file"
}
take leak.png "$work/leak.hwm"
take dark.png -scheme dark "$work/leak.hwm"
take phone.png -width 390 -height 844 "$work/leak.hwm"
take retained.png -show "[aria-labelledby=held-title]" "$work/leak.hwm"
take garbage.png "$work/garbage.hwm"
take flame.png -state view=flame "$work/garbage.hwm"
take goroutines.png "$work/goroutines.hwm"
take native.png "$work/native.hwm"
take compare.png "$work/before.hwm" "$work/after.hwm"
