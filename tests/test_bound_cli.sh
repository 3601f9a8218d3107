#!/bin/sh
# bdml bound: numbers from options and from a model, the example of the paper, refusals with their reasons.
set -u
bdml=$BDML_COMMAND
wine=$BDML_SOURCE/data/wine.csv
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
check() { # NAME TEXT ARGUMENT...: must succeed and say TEXT
    name=$1
    text=$2
    shift 2
    if ! "$bdml" "$@" >"$work/out" 2>"$work/err" || ! grep -q -- "$text" "$work/out"; then
        echo "FAILED: $name: no '$text'"
        sed 's/^/    /' "$work/out" "$work/err"
        failed=1
    fi
}
refuse() { # NAME TEXT ARGUMENT...: must fail with status 2 or 4 and say TEXT
    name=$1
    text=$2
    shift 2
    "$bdml" "$@" >"$work/out" 2>"$work/err"
    code=$?
    if [ $code -eq 0 ] || ! grep -q -- "$text" "$work/err"; then
        echo "FAILED: $name: status $code, no '$text'"
        sed 's/^/    /' "$work/err"
        failed=1
    fi
}
numbers="--distortion 3 --trace 5 --radius 2"

# 4 (3+1) 5 2^2 / 4 = 80, with rank 2 for d: 160
check "stability" "beta = 4 (K+1) R Gamma^2 / d  *80$" bound stability $numbers --dimension 4
check "stability by rank" '"beta": 160.0' bound stability $numbers --dimension 4 --metric-rank 2 --json
# 7 + 10 sqrt(291.6)
check "generalization" '"risk": 177.762993649' bound generalization $numbers --dimension 4 --sample-size 10 --failure 0.5 \
    --empirical 7 --json
check "general form" '"excess": 26.8328157' bound generalization $numbers --dimension 4 --sample-size 10 --failure 0.5 \
    --beta 1 --json
check "tail" "the paper states 0.999828" bound tail
check "tail at 7" "0.99999932" bound tail --covariance-rank 7
check "tail says nothing" "says nothing" bound tail --covariance-rank 10
check "sharper ranks" '"objective_fails": 0.0595731' bound tail --covariance-rank 7 --ranks 1,7,1 --json

"$bdml" train "$wine" --scale zscore --kind pair --hard --distortion 10 -o "$work/p.bdml" -q 2>"$work/err" ||
    { echo "FAILED: train"; failed=1; }
check "model" '"dimension": 13.0' bound generalization "$work/p.bdml" "$wine" --json
check "model, tail" '"d": 13' bound tail "$work/p.bdml" --json

refuse "triplets" "pair constraints only" bound tail --form t
refuse "no trace" "give --trace R" bound stability --distortion 3
refuse "no distortion" "give --distortion K" bound stability --trace 3
refuse "no data" "the data that the model was learned from" bound stability "$work/p.bdml"
refuse "other data" "there is no column 'alcohol'; the file has 5 columns" bound stability "$work/p.bdml" "$BDML_SOURCE/data/iris.csv"
refuse "unknown" "stability, generalization and tail" bound nothing
refuse "ranks" "three whole numbers" bound tail --ranks 1,2
refuse "failure" "delta must be above 0" bound generalization $numbers --dimension 4 --sample-size 10 --failure 0
exit $failed
