#!/bin/sh
# The commands around the paper's algorithm: compare-solvers, reproduce, and train with certify.
set -u
bdml=$BDML_COMMAND
iris=$BDML_SOURCE/data/iris.csv
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
check() { # NAME COMMAND...: must succeed
    name=$1
    shift
    if ! "$@" >"$work/out" 2>"$work/err"; then
        echo "FAILED: $name"
        sed 's/^/    /' "$work/err"
        failed=1
    fi
}
has() { # NAME TEXT FILE
    if ! grep -q -- "$2" "$3"; then
        echo "FAILED: $1: no '$2'"
        sed 's/^/    /' "$3"
        failed=1
    fi
}
problem="--scale zscore --kind pair --rounds 300 --gap 0.1 --starts 2"

check "compare-solvers" "$bdml" compare-solvers "$iris" $problem --trace 100 --json
for solver in engine mwu-cone mwu 'mwu, scaled' 'mwu, literal'; do
    has "compare-solvers" "\"solver\": \"$solver\"" "$work/out"
done

check "train mwu-cone" "$bdml" train "$iris" $problem --solver mwu-cone -o "$work/cone.bdml"
check "certify mwu-cone" "$bdml" certify "$work/cone.bdml" "$iris"
check "train mwu" "$bdml" train "$iris" $problem --solver mwu -o "$work/mwu.bdml"
has "train mwu" "approximate: objective" "$work/out"
check "certify mwu" "$bdml" certify "$work/mwu.bdml" "$iris"
has "certify mwu" "the claim 'approximate' holds" "$work/out"

# Triplets contradict each other on Iris: no model, a proof that holds.
"$bdml" train "$iris" --scale zscore --solver mwu-cone -o "$work/t.bdml" 2>"$work/err"
[ $? -eq 3 ] || { echo "FAILED: exit status of a proven contradiction"; failed=1; }
check "certify the proof" "$bdml" certify "$work/t.bdml.proof" "$iris"

# The same bits for any number of threads: models without their time of training.
for solver in mwu mwu-cone; do
    for threads in 1 2; do
        check "train on $threads threads" "$bdml" train "$iris" $problem --solver $solver --threads $threads \
            -o "$work/$threads.bdml"
        check "export" "$bdml" export "$work/$threads.bdml" --what M -o "$work/$threads.npy"
    done
    cmp "$work/1.npy" "$work/2.npy" || { echo "FAILED: $solver on 1 and 2 threads"; failed=1; }
done

# Each setting out of range has its own message.
refuses() { # TEXT OPTION...: bad usage, told with this text
    text=$1
    shift
    "$bdml" train "$iris" $problem --solver mwu -o "$work/no.bdml" "$@" >"$work/out" 2>"$work/err"
    [ $? -eq 2 ] || { echo "FAILED: exit status with $*"; failed=1; }
    has "message of $*" "$text" "$work/err"
}
refuses "--rho must be a number of at least 0, got '-1'" --rho -1
refuses "--trace must be a number of at least 0, got '-3'" --trace -3
refuses "--rounds must be a whole number of at least 1, got '0'" --rounds 0
refuses "--epsilon must be a number from 0 to 0.5, got '0.6'" --epsilon 0.6
refuses "rho = 0.5 is exceeded: the width of the rows is" --delta 0.1 --rho 0.5 --row-scaling none
refuses "gives a step epsilon = .* above 1/2" --delta 1e9
refuses "the literal form needs a trace bound" --literal

# Fixed rounds: a width that is too small and a gap that is missed are told.
check "width exceeded" "$bdml" train "$iris" $problem --solver mwu --literal --trace 100 --rho 5 -o "$work/w.bdml"
has "width exceeded" "the width was exceeded: a row had .* times rho = 5" "$work/err"
check "gap missed" "$bdml" train "$iris" $problem --solver mwu-cone --delta 0.2 --gap 0.002 -o "$work/g.bdml"
has "gap missed" "not the 0.002 asked for" "$work/err"

cd "$work" || exit 1
check "reproduce" "$bdml" reproduce distortion "$iris" --quick --page page.md --json
has "reproduce" '"literal K 10 R 100' "$work/out"
has "reproduce: cells are kept" '"literal K 10 R 100' "$work/results/distortion.json"
has "reproduce: page" '| 1e+01 | 100 |' "$work/page.md"
# what is there is not run again: a changed figure stays
sed -i 's/"error_std": [0-9.]*/"error_std": 77.7/' "$work/results/distortion.json"
check "reproduce goes on" "$bdml" reproduce distortion "$iris" --quick
has "reproduce goes on" '77.70' "$work/out"
# Nothing is run with --kept, and what is not there is counted.
check "kept" "$bdml" reproduce distortion "$iris" --splits 3 --kept
has "kept: none" '^- not run yet: 10 of 10 cells' "$work/out"
check "kept" "$bdml" reproduce distortion "$iris" --quick --kept
has "kept: all" '77.70' "$work/out"
if grep -q 'not run yet' "$work/out"; then echo "FAILED: kept: all are there"; failed=1; fi
sed -i 's/"cell_seconds":/"older": "by another rule", "cell_seconds":/' "$work/results/distortion.json"
check "older" "$bdml" reproduce distortion "$iris" --quick --kept
has "older: is said" '^- older than the code: by another rule' "$work/out"
echo 'no json' >"$work/results/distortion.json"
"$bdml" reproduce distortion "$iris" --quick 2>"$work/err"
[ $? -eq 2 ] || { echo "FAILED: exit status of damaged results"; failed=1; }
has "damaged results" "distortion.json, line 1: not JSON" "$work/err"
check "reproduce, tuned" "$bdml" reproduce distortion "$iris" --quick --splits 1 --row-scaling width \
    --results '' --json
has "reproduce, tuned" 'splits 1 row-scaling=width' "$work/out"

# The account of the claim from cells that are known: K chosen is 1, 2, 3, 4 points below K = 1e5, in both splits
# alike on three sets; the mean is -2.5, its standard error sqrt(5/3/4) = 0.65. The recipe is its reference.
awk 'BEGIN {
    split("wine iris diabetes segment", set, " ")
    split("K 1,K 3,K 10,K 30,K 100,K 1000,K 1e4,K 1e5,K chosen,reference,recipe", form, ",")
    printf "{\"study\": \"claim\", \"version\": \"0\", \"cells\": {"
    for (s = 1; s <= 4; s++)
        for (k = 1; k <= 11; k++) {
            e = form[k] == "K chosen" ? 20 - s : 20
            w = s == 4 && form[k] == "K chosen" ? 4 : 0
            printf "%s\"%s, %s, splits 2\": {\"methods\": [{\"errors\": [%g, %g], \"error_mean\": %g}]}",
                (s * k == 1 ? "" : ", "), set[s], form[k], e - w, e + w, e
        }
    print "}}"
}' >"$work/results/claim.json"
check "claim" "$bdml" reproduce claim --quick -o claim.svg
has "claim" 'at K = 1e5: -2.50 points (standard error over 4 sets 0.65); better on 4, worse on 0' "$work/out"
has "claim" 'beyond two corrected standard errors better on 3, worse on 0' "$work/out"
has "claim" 'its reference alone: +0.00 points (standard error over 4 sets 0.00); better on 0, worse on 0' "$work/out"
has "claim: table" '| segment  | 20.00 |    16.00 |   20.00 |     20.00 |  20.00 | -4.00 ' "$work/out"

# Faces, from cells that are made up: each form of p-BDML in a row of its own, and what its kappa is of.
awk 'BEGIN {
    printf "{\"study\": \"faces\", \"version\": \"0\", \"cells\": {"
    m = "{\"methods\": [{\"method\": \"%s\", \"accuracies\": [%g, %g], \"accuracy_mean\": %g, \"accuracy_se\": 1, \"kappa\": %s}"
    printf "\"all methods, pca 50\": " m ", {\"method\": \"kissme\", \"accuracy_mean\": 70, \"kappa\": null}]}", "bdml", 79, 81, 80, "50"
    printf ", \"p-BDML, pca 50\": " m "]}", "bdml", 76, 76, 76, "8"
    printf ", \"p-BDML, reference chosen, pca 50\": {\"refused\": \"too few pairs\", \"infeasible\": false}"
    m = "{\"methods\": [{\"method\": \"%s\", \"accuracies\": [%g, %g], \"accuracy_mean\": %g, \"kappa\": null, \"kappa_on_range\": %s}"
    printf ", \"p-BDML, low rank, pca 50, rank 20\": " m "]}", "bdml", 77, 79, 78, "9.5"
    print "}}"
}' >"$work/results/faces.json"
check "faces" "$bdml" reproduce faces --quick
has "faces: by distance" '| \*\*p-BDML\*\*  *| *76.00 (1.00) | +4.00 (1.00) | *8 | .* 86.32 (0.22) | 8.377 |' "$work/out"
has "faces: low rank" '| \*\*p-BDML, 20 x 50\*\* *| *78.00 | +2.00 (0.00) | 9.5 on its range |' "$work/out"
has "faces: as it is" '| \*\*bdml, as it is\*\* *| *80.00 (1.00) | *- | *50 |' "$work/out"
has "faces: singular" '| KISSME  *| *70.00 | *- | *singular |' "$work/out"
has "faces: refused" '^- refused: p-BDML, reference chosen, pca 50: too few pairs' "$work/out"

"$bdml" reproduce nothing 2>"$work/err"
[ $? -eq 2 ] || { echo "FAILED: exit status of an unknown study"; failed=1; }
has "reproduce" "the studies are: all, table1" "$work/err"
exit $failed
