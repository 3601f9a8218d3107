#!/bin/sh
# bdml-check against exact arithmetic, on honest certificates of every form and on forged ones.
if ! command -v python3 >/dev/null; then
    echo "skipped: the exact checker, there is no python3"
    exit 0
fi
exec python3 "$BDML_SOURCE/tests/check_corpus.py" "$BDML_COMMAND" "$BDML_BUILD/check/bdml-check"
