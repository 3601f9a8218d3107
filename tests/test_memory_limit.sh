#!/bin/sh
# test_memory_limit.sh - a process that may take little memory: files that hold more are refused before they are read, with the
# estimate and what would fit; what reads row by row does not mind.
set -u
. "$BDML_SOURCE/tests/shell_tools.sh"
folder=$work
passed=0 failed=0
export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1
limited() { (ulimit -v 500000 && exec "$bdml" "$@") >"$folder/out" 2>&1; }
check() { # check WHAT CONDITION...
    what=$1
    shift
    if "$@"; then passed=$((passed + 1)); else
        failed=$((failed + 1))
        echo "FAILED: $what: $(tail -n 3 "$folder/out")"
    fi
}
if ! limited version; then
    echo "skipped: sanitizers take more address space than that"
    echo "cases: 0 passed, 0 failed"
    exit 0
fi
# 2 GiB of zeros that take no place on a disk: 4,194,304 rows of 64
header="{'descr': '<f8', 'fortran_order': False, 'shape': (4194304, 64), }"
{ printf '\223NUMPY\001\000\166\000'; printf '%-117s\n' "$header"; } >"$folder/big.npy"
truncate -s $((128 + 4194304 * 64 * 8)) "$folder/big.npy"
limited neighbors "$folder/big.npy" -o "$folder/n.csv"
status=$?
check "a file of 2 GiB is refused" [ $status = 1 ]
check "with the estimate" grep -q "4194304 rows of 64 values needs about 2.0 GiB of memory, and .* are free; about [0-9]* such rows would fit" "$folder/out"
check "and nothing is written" [ ! -e "$folder/n.csv" ]
# A BLAS of which nothing is known takes address space of its own, so that a limit this tight says nothing.
if grep -q '^BDML_BLAS:STRING=Generic' "$BDML_BUILD/CMakeCache.txt"; then
    echo "cases: $passed passed, $failed failed"
    exit $failed
fi
# 40 MiB of text, 14 bytes a row, which are 60 as numbers
{ echo "a,b,c,d,e,f,g"; yes 1,2,3,4,5,6,7 | head -c 41943040; } >"$folder/big.csv"
(ulimit -v 250000 && exec "$bdml" neighbors "$folder/big.csv" --label none -o "$folder/n.csv") >"$folder/out" 2>&1
status=$?
check "a text that would not fit is refused" [ $status = 1 ]
check "by the length of its first rows" grep -q "reading about 299[0-9]* rows of 7 values needs about 17[0-9.]* MiB of memory" "$folder/out"
# OpenBLAS asks for ever for memory that it is refused: there is a sentence before, or fewer threads. Also where it starts threads of
# its own when it is loaded, which is what it does unless it is told otherwise.
unset OPENBLAS_NUM_THREADS OMP_NUM_THREADS
"$bdml" train "$BDML_SOURCE/data/iris.csv" -q -o "$folder/want.bdml"
"$bdml" export "$folder/want.bdml" -q -o "$folder/want.npy"
ended=0 learned=0
for kib in 100000 140000 180000 215000 230000 260000 300000 350000 400000 500000; do
    for threads in 1 2; do
        (ulimit -v $kib && exec timeout -k 1 60 "$bdml" train "$BDML_SOURCE/data/iris.csv" --threads $threads -q -o "$folder/m.bdml") >"$folder/out" 2>&1
        status=$?
        if [ $status = 0 ]; then
            "$bdml" export "$folder/m.bdml" -q -o "$folder/m.npy"
            check "$kib KiB, $threads threads: the same map" cmp -s "$folder/want.npy" "$folder/m.npy"
            learned=$((learned + 1))
        else
            check "$kib KiB, $threads threads: exit 1, not $status" [ $status = 1 ]
            check "$kib KiB, $threads threads: a sentence" grep -q "^bdml: .*memory" "$folder/out"
        fi
        ended=$((ended + 1))
    done
done
check "$learned of $ended limits leave room" [ $learned -ge 8 -a $learned -lt $ended ]
(ulimit -v 100000 && exec timeout -k 1 60 "$bdml" train "$BDML_SOURCE/data/iris.csv" -q -o "$folder/m.bdml") >"$folder/out" 2>&1
if [ -n "$(ldd "$bdml" | grep openblas)" ]; then
    check "what is missing is told" grep -q "OpenBLAS needs about 129.0 MiB to work in, and [0-9.]* MiB are free (ulimit -v" "$folder/out"
fi
echo "cases: $passed passed, $failed failed"
[ $failed = 0 ]
