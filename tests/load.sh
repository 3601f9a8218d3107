#!/bin/sh
# load.sh SOAK DATA PROCESSES SECONDS - that many processes of tests/soak.c at once, on however few processors: all come to their
# end, agree to the bit, and keep their memory. `make soak MINUTES=60` runs it long, ctest -R test_load for a few seconds.
set -u
soak=$1 data=$2 processes=$3 seconds=$4
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
k=0
while [ $k -lt "$processes" ]; do
    "$soak" "$seconds" "$data/iris.csv" >"$folder/out.$k" 2>"$folder/err.$k" &
    echo $! >"$folder/pid.$k"
    k=$((k + 1))
done
passed=0 failed=0 k=0
while [ $k -lt "$processes" ]; do
    if wait "$(cat "$folder/pid.$k")" && cmp -s "$folder/out.0" "$folder/out.$k" && [ -s "$folder/out.$k" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: process $k: $(cat "$folder/out.$k" "$folder/err.$k") instead of $(cat "$folder/out.0")"
    fi
    echo "process $k: $(tail -n 1 "$folder/err.$k")"
    k=$((k + 1))
done
echo "cases: $passed passed, $failed failed"
[ "$failed" = 0 ]
