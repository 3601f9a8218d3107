#!/bin/sh
# What training claims of random problems and of badly placed data, before both checkers: a sample of `make corpus`.
if ! command -v python3 >/dev/null; then
    echo "skipped: the corpus of claims, there is no python3"
    exit 0
fi
exec python3 "$BDML_SOURCE/tests/claims_corpus.py" "$BDML_COMMAND" "$BDML_BUILD/check/bdml-check" 60 60 5
