#!/bin/sh
# test_faults.sh - a sample of the faults of tests/faults/faults.py, which 'make faults' tries one and all.
set -eu
. "$BDML_SOURCE/tests/shell_tools.sh"
preload=$BDML_BUILD/tests/faults/libfail_alloc.so
if [ ! -e "$preload" ] || ! command -v python3 >/dev/null 2>&1; then
    echo "skipped: sanitizers have an allocator of their own, or there is no python3"
    echo "cases: 0 passed, 0 failed"
    exit 0
fi
python3 "$BDML_SOURCE/tests/faults/faults.py" "$bdml" "$preload" 120
