#!/bin/sh
# test_foreign_text.sh - names out of files on terminals and in spreadsheets: tests/foreign_text.py.
set -eu
. "$BDML_SOURCE/tests/shell_tools.sh"
if ! command -v python3 >/dev/null 2>&1; then
    echo "skipped: there is no python3"
    echo "cases: 0 passed, 0 failed"
    exit 0
fi
python3 "$BDML_SOURCE/tests/foreign_text.py" "$bdml" "$BDML_BUILD/check/bdml-check" "$BDML_SOURCE"
