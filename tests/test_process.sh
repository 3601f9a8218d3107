#!/bin/sh
# The command's process: threads that OpenBLAS starts when it is loaded are ended before anything is read, and it starts
# them anew where it is to have more than one; on a processor that it does not know it gets kernels that fit.
set -u
. "$BDML_SOURCE/tests/shell_tools.sh"
[ -d /proc/self/task ] || exit 0 # no way to count threads
unset OPENBLAS_NUM_THREADS OMP_NUM_THREADS

# It waits for data that do not come, with one thread.
mkfifo data
"$bdml" train data --threads 1 -o none.bdml -q >said 2>&1 &
waiting=$!
exec 3>data # opened as soon as the command opens it
threads=$(ls "/proc/$waiting/task" | wc -l)
echo "a,b,c" >&3
exec 3>&-
wait "$waiting" # three words are no data set: an error
[ "$threads" -eq 1 ] || fail "$threads threads while the command waits for its data"

# LAPACK with threads (from 200 dimensions on), after they were ended: they are there again, and training proves what it learns.
awk 'BEGIN {
    srand(3)
    for (i = 0; i < 220; i++) {
        for (j = 0; j < 204; j++) printf "%s%.6f", (j ? "," : ""), rand() + (i % 2) * (j < 9)
        print (i % 2 ? ",b" : ",a")
    }
}' >wide.csv
"$bdml" train wide.csv --reference none --distortion 3 --softness 5 --passes 1 --threads 2 --no-deterministic -o m.bdml -q \
    >said 2>err || { cat err; fail "--no-deterministic"; }

# "Core: NAME" is said once when OpenBLAS is loaded and, where that was the oldest kind on a processor with AVX2 and FMA, once more.
unset OPENBLAS_CORETYPE
OPENBLAS_VERBOSE=2 "$bdml" version 2>&1 | sed -n 's/^Core: //p' >cores
if [ "$(head -n 1 cores)" = Prescott ] && grep -qw avx2 /proc/cpuinfo && grep -qw fma /proc/cpuinfo; then
    [ "$(wc -l <cores)" -eq 2 ] && [ "$(tail -n 1 cores)" != Prescott ] || fail "the oldest kernels stay: $(cat cores)"
else
    [ "$(wc -l <cores)" -le 1 ] || fail "kernels that fit were changed: $(cat cores)"
fi
OPENBLAS_CORETYPE=Prescott OPENBLAS_VERBOSE=2 "$bdml" version 2>&1 | sed -n 's/^Core: //p' >cores
[ "$(wc -l <cores)" -le 1 ] || fail "kernels that were asked for were changed: $(cat cores)"
