#!/bin/sh
# The main job on a small faulty server: two uploads at a time are fine, eight
# are not. Writes demo/uploads.hwm, the recording, and demo/uploads.json, the
# answer as data. PORT chooses another port than 18080, FIXED=1 the server
# without its fault.
set -eu
cd "$(dirname "$0")/../.."
port=${PORT:-18080}
go=${GO:-go}
mkdir -p demo
(cd examples/uploads && "$go" build -o ../../demo/uploads . && "$go" build -o ../../demo/uploads-load ./load)

code=0
rm -f demo/uploads.hwm demo/uploads.hwm-wal demo/uploads.hwm-shm
bin/highwater run --limit 256MiB --ready "http://127.0.0.1:$port/files" \
	--load "demo/uploads-load -addr 127.0.0.1:$port" -o demo/uploads.hwm -- \
	demo/uploads -addr "127.0.0.1:$port" -dir demo/files ${FIXED:+-fixed} || code=$?
rm -rf demo/files

# The program's own code comes through: 137 is its death by SIGKILL.
if [ "$code" -ne 0 ] && [ "$code" -ne 137 ]; then
	exit "$code"
fi
bin/highwater explain --json demo/uploads.hwm > demo/uploads.json
echo "the answer as data: demo/uploads.json"
