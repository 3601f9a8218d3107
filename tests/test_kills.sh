#!/bin/sh
# test_kills.sh - a few of the kills of tests/kills.py, of which 'make kills' does 500.
set -eu
. "$BDML_SOURCE/tests/shell_tools.sh"
if ! command -v python3 >/dev/null 2>&1; then
    echo "skipped: there is no python3"
    echo "cases: 0 passed, 0 failed"
    exit 0
fi
python3 "$BDML_SOURCE/tests/kills.py" "$bdml" "$BDML_SOURCE/data" 8
