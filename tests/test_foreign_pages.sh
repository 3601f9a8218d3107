#!/bin/sh
# test_foreign_pages.sh - text and numbers of results in pages and pictures: tests/foreign_pages.py.
set -eu
. "$BDML_SOURCE/tests/shell_tools.sh"
if ! command -v python3 >/dev/null 2>&1; then
    echo "skipped: there is no python3"
    echo "cases: 0 passed, 0 failed"
    exit 0
fi
python3 "$BDML_SOURCE/tests/foreign_pages.py" "$bdml" "$BDML_SOURCE"
