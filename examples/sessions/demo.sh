#!/bin/sh
# A leak, found and repaired: a login server whose sessions stay is killed under 128 MiB,
# and the answer names the map that retains them. Then the repaired server takes the
# same logins under the same limit, in turns with the faulty one. Writes
# demo/sessions.hwm. PORT chooses another port than 18081.
set -eu
cd "$(dirname "$0")/../.."
port=${PORT:-18081}
go=${GO:-go}
mkdir -p demo
(cd examples/sessions && "$go" build -o ../../demo/sessions . && "$go" build -o ../../demo/sessions-load ./load)

code=0
rm -rf demo/sessions.hwm demo/sessions.hwm-wal demo/sessions.hwm-shm demo/sessions-tried
bin/highwater run --limit 128MiB --keep-args --ready "http://127.0.0.1:$port/healthz" \
	--load "demo/sessions-load -addr 127.0.0.1:$port -for 3m -logins 9000" -o demo/sessions.hwm -- \
	demo/sessions -addr "127.0.0.1:$port" || code=$?
[ "$code" -eq 137 ] || exit 1

echo
echo "The repair, for real: the server whose sessions expire (-fixed), and the faulty one, three times each."
bin/highwater try demo/sessions.hwm -o demo/sessions-tried fixed="demo/sessions -addr 127.0.0.1:$port -fixed"
echo
bin/highwater explain demo/sessions.hwm
