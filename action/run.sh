#!/usr/bin/env bash
# What action.yml runs: its inputs are in HW_COMMAND, HW_LOAD, HW_READY, HW_FOR, HW_LIMIT, HW_EXPECT and
# HW_PAGE, and HW_DIR is made for what is kept. Writes the answer to the summary and the outputs.
set -euo pipefail
: "${HW_COMMAND:?no command}"
mkdir -p "$HW_DIR"
recording=$HW_DIR/run.hwm

flags=(-o "$recording")
[ -z "${HW_LOAD:-}" ] || flags+=(--load "$HW_LOAD")
[ -z "${HW_READY:-}" ] || flags+=(--ready "$HW_READY")
[ -z "${HW_FOR:-}" ] || flags+=(--for "$HW_FOR")
[ -z "${HW_LIMIT:-}" ] || flags+=(--limit "$HW_LIMIT")

code=0
highwater run "${flags[@]}" -- sh -c "$HW_COMMAND" || code=$?
if [ ! -e "$recording" ]; then
	echo "highwater: nothing was recorded" >&2
	[ "$code" != 0 ] || code=1
	exit "$code"
fi

budget=0
expect=()
[ -z "${HW_EXPECT:-}" ] || expect=(--expect "$HW_EXPECT")
answer=$(highwater explain "$recording" "${expect[@]}") || budget=$?
{
	echo '## Memory'
	[ "$budget" != 3 ] || echo "**Over the budget of \`$HW_EXPECT\`.**"
	echo '````'
	echo "$answer"
	echo '````'
} >>"$GITHUB_STEP_SUMMARY"

json=$(highwater explain "$recording" --json) || true
# field is the first value of a name in the answer, a text on one line.
field() { sed -n "s/^ *\"$1\": \"\(.*\)\",*\$/\1/p" <<<"$2" | head -1; }
{
	echo "outcome=$(field sentence "$(sed -n '/^  "outcome"/,/^  }/p' <<<"$json")")"
	echo "verdict=$(field class "$(sed -n '/^  "verdict"/,/^  }/p' <<<"$json")")"
	echo "recording=$recording"
} >>"$GITHUB_OUTPUT"

case ${HW_PAGE:-redacted} in
redacted) highwater open "$recording" --redact --html "$HW_DIR/memory.html" ;;
full) highwater open "$recording" --html "$HW_DIR/memory.html" ;;
none) ;;
*) echo "highwater: page is redacted, full or none" >&2 && exit 2 ;;
esac

case $budget in
0 | 4) exit "$code" ;; # 4: the cause is not decided, the budget is kept
3) echo "::error title=Memory::over the budget of $HW_EXPECT" ;;
esac
exit "$budget"
