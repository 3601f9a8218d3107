#!/bin/sh
# bdml transform of NPY: in blocks, so that memory does not grow with the rows; the type of the input is kept, and --type.
set -u
. "$BDML_SOURCE/tests/shell_tools.sh"
export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1

header() { # TYPE ROWS COLUMNS: 128 bytes
    text="{'descr': '$1', 'fortran_order': False, 'shape': ($2, $3), }"
    printf '\223NUMPY\001\000\166\000%-117s\n' "$text"
}
type_of() { dd if="$1" bs=128 count=1 2>/dev/null | grep -ao "<f[48]"; }
size_of() { wc -c <"$1" | tr -d ' '; }

# A metric of 256 dimensions.
awk 'BEGIN {
    srand(7)
    for (i = 0; i < 40; i++) {
        for (j = 0; j < 256; j++) printf "%s%.6f", (j ? "," : ""), rand() + (i % 2) * (j < 9)
        print (i % 2 ? ",b" : ",a")
    }
}' >few.csv
"$bdml" train few.csv --reference none --distortion 3 --softness 5 --passes 1 -o m.bdml -q >said 2>err || { cat err; fail "training"; }

# Types: float32 gives float32, float64 gives float64, --type is heeded, and the numbers are the same up to rounding.
"$bdml" convert few.csv few.npy >said 2>err || { cat err; fail "convert"; }
[ "$(type_of few.npy)" = "<f8" ] || fail "convert writes doubles"
"$bdml" transform m.bdml few.csv -o double.npy -q >said 2>err || { cat err; fail "transform"; }
"$bdml" transform m.bdml few.csv --type float32 -o single.npy -q >said 2>err || fail "--type float32"
"$bdml" transform m.bdml few.npy -o same.npy -q >said 2>err || { cat err; fail "doubles"; }
cmp -s double.npy same.npy || fail "CSV and NPY give the same"
"$bdml" transform m.bdml single.npy -o again.npy -q >said 2>err || { cat err; fail "singles"; }
"$bdml" transform m.bdml single.npy --type float64 -o wide.npy -q >said 2>err || fail "--type float64"
for pair in double.npy:f8 single.npy:f4 again.npy:f4 wide.npy:f8; do
    [ "$(type_of "${pair%:*}")" = "<${pair#*:}" ] || fail "$pair"
done
[ "$(size_of double.npy)" -eq $((128 + 40 * 256 * 8)) ] || fail "size of double.npy"
[ "$(size_of single.npy)" -eq $((128 + 40 * 256 * 4)) ] || fail "size of single.npy"
cmp -s double.labels.npy single.labels.npy || fail "labels beside both"
for f in double single; do
    "$bdml" convert $f.npy $f.csv --label none >said 2>err || { cat err; fail "convert $f"; }
done
paste -d, double.csv single.csv | awk -F, 'NR > 1 {
    for (j = 1; j <= 256; j++) {
        e = $j - $(j + 256); if (e < 0) e = -e
        s = $j < 0 ? -$j : $j
        if (e > 6e-8 * s) { print NR, j, $j, $(j + 256); exit 1 }
    }
    n++
} END { exit n != 40 }' || fail "singles are the rounded doubles"
"$bdml" transform m.bdml few.npy --type float32 -o t.csv >said 2>err && fail "--type with CSV"
has err "--type is that of an .npy file"
"$bdml" transform m.bdml few.npy --json -o t.npy >said 2>err || fail "json"
has said '"type": "float64"'

# Rows that are dropped, and rows of a pipe, are counted as they come.
{ sed -n 1,39p few.csv; sed -n 40p few.csv | sed 's/^[^,]*/?/'; } >hole.csv
"$bdml" transform m.bdml hole.csv --missing drop -o hole.npy -q >said 2>err || { cat err; fail "drop"; }
[ "$(size_of hole.npy)" -eq $((128 + 39 * 256 * 8)) ] || fail "dropped rows"
dd if=hole.npy bs=128 count=1 2>/dev/null | grep -aq "(39, 256)" || fail "header of dropped rows"
"$bdml" transform m.bdml - -o piped.npy -q <single.npy >said 2>err || { cat err; fail "pipe"; }
cmp -s piped.npy again.npy || fail "a pipe gives the same"

# Rows that one metric has mapped become those of another; the digits are those of doubles times the condition numbers.
"$bdml" train few.csv --reference none --distortion 30 --softness 5 --passes 1 -o new.bdml -q >said 2>err || fail "a second metric"
"$bdml" transform new.bdml few.npy -o wanted.csv -q >said 2>err || fail "the second metric"
"$bdml" transform new.bdml same.npy --from m.bdml -o converted.csv -q >said 2>err || { cat err; fail "--from"; }
paste -d, wanted.csv converted.csv | awk -F, 'NR > 1 {
    for (j = 1; j <= 256; j++) { e = $j - $(j + 256); if (e > 1e-12 || e < -1e-12) { print NR, j, e; exit 1 } }
    n++
} END { exit n != 40 }' || fail "--from gives the rows of the other metric"
"$bdml" train few.csv --scale unit --reference none --distortion 3 --softness 5 --passes 1 -o unit.bdml -q >said 2>err
"$bdml" transform unit.bdml same.npy --from m.bdml -o no.npy >said 2>err && fail "--from across length 1"
has err "map the originals"
[ ! -e no.npy ] || fail "a refused conversion leaves nothing"

# A row that the model cannot map is told by its line, in whichever block of rows it comes.
printf '1,0\n0,1\n' >eye.csv
"$bdml" import eye.csv --what L -o eye.bdml -q >said 2>err || { cat err; fail "import"; }
awk 'BEGIN { print "u,v"; for (i = 2; i <= 20000; i++) print (i == 9001 ? "1e200" : i % 7) "," i % 5 }' >far.csv
"$bdml" transform eye.bdml far.csv -o far.npy >said 2>err && fail "a row beyond all distances"
has err "far.csv: line 9001: the model maps it to 1e+200"
awk 'BEGIN { print "u,v,class"; for (i = 0; i < 30; i++) print i % 2 * 9 + i / 30 "," i % 3 "," i % 2 }' >two.csv
"$bdml" train two.csv --reference none --distortion 3 --softness 5 --passes 1 --scale none -o two.bdml -q >said 2>err || { cat err; fail "two"; }
"$bdml" predict two.bdml far.csv -o classes.csv >said 2>err && fail "nor has it a class"
has err "far.csv: line 9001: the model maps it to"

# 200,000 x 256 singles, 205 MB in and out, within an address space that the mapped rows, doubles, do not fit in.
if grep -q 'BDML_SANITIZE:BOOL=ON' "$BDML_BUILD/CMakeCache.txt"; then
    echo "skipped: the limit on memory, which sanitizers do not live with"
    exit 0
fi
rows=200000
{ header "<f4" $rows 256; head -c $((rows * 1024)) /dev/zero; } >large.npy
(ulimit -v 300000 && "$bdml" transform m.bdml large.npy --threads 1 --memory 32 -o mapped.npy -q) >said 2>err ||
    { cat err; fail "200,000 rows in 300 MB"; }
[ "$(size_of mapped.npy)" -eq $((128 + rows * 1024)) ] || fail "size of mapped.npy"
echo "streamed"
