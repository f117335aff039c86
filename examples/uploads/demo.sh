#!/bin/sh
# The main job on a small faulty server: two uploads at a time are fine, eight
# are not. Writes demo/uploads.hwm, the recording, and demo/uploads.json, the
# answer as data. Then the repaired server takes the same uploads under the same
# limit, in turns with the faulty one, and the answer says what came of it.
# PORT chooses another port than 18080, FIXED=1 runs the server without its
# fault only.
set -eu
cd "$(dirname "$0")/../.."
port=${PORT:-18080}
go=${GO:-go}
mkdir -p demo
(cd examples/uploads && "$go" build -o ../../demo/uploads . && "$go" build -o ../../demo/uploads-load ./load)

code=0
rm -rf demo/uploads.hwm demo/uploads.hwm-wal demo/uploads.hwm-shm demo/tried
bin/highwater run --limit 256MiB --keep-args --ready "http://127.0.0.1:$port/files" \
	--load "demo/uploads-load -addr 127.0.0.1:$port" -o demo/uploads.hwm -- \
	demo/uploads -addr "127.0.0.1:$port" -dir demo/files ${FIXED:+-fixed} || code=$?

# The program's own code comes through: 137 is its death by SIGKILL.
if [ "$code" -ne 0 ] && [ "$code" -ne 137 ]; then
	exit "$code"
fi
if [ "$code" -eq 137 ]; then
	echo
	echo "The repair, for real: the server that streams its uploads (-fixed), and the faulty one, three times each."
	bin/highwater try demo/uploads.hwm -o demo/tried \
		fixed="demo/uploads -addr 127.0.0.1:$port -dir demo/files -fixed"
	echo
	bin/highwater explain demo/uploads.hwm | sed -n '/^FIX/,/^  *highwater/p'
fi
rm -rf demo/files
bin/highwater explain --json demo/uploads.hwm > demo/uploads.json || [ $? -eq 4 ]
echo "the answer as data: demo/uploads.json"
