#!/bin/sh
# Ordinary files, each with what one plain `bdml train FILE` must say; and the table of docs/formats.md is that of today.
set -u
command -v python3 >/dev/null 2>&1 || { echo "skipped: there is no python3"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
python3 "$BDML_SOURCE/tests/ordinary_files.py" "$BDML_COMMAND" "$work/now" || failed=1
sed -n '/^| file | what it is |/,/^$/p' "$BDML_SOURCE/docs/formats.md" | grep '^|' >"$work/then"
if ! grep -q "was built without" "$work/now" && ! cmp -s "$work/now" "$work/then"; then
    echo "FAILED: the table of docs/formats.md is not what tests/ordinary_files.py writes:"
    diff "$work/then" "$work/now" | head -n 10
    failed=1
fi
exit $failed
