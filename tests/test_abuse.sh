#!/bin/sh
# test_abuse.sh - one data set of each kind of tests/abuse.py, which 'make abuse' tries in 400 forms.
set -eu
. "$BDML_SOURCE/tests/shell_tools.sh"
if ! command -v python3 >/dev/null 2>&1; then
    echo "skipped: there is no python3"
    echo "cases: 0 passed, 0 failed"
    exit 0
fi
python3 "$BDML_SOURCE/tests/abuse.py" "$bdml" 40
