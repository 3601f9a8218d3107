#!/bin/sh
# test_load.sh - eight processes at once agree to the bit (tests/load.sh, in short).
set -eu
"$BDML_SOURCE/tests/load.sh" "$BDML_BUILD/tests/soak" "$BDML_SOURCE/data" 8 1
