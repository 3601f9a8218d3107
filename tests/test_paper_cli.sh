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

check "reproduce" "$bdml" reproduce distortion "$iris" --splits 1 --json
has "reproduce" '"literal"' "$work/out"
"$bdml" reproduce nothing 2>"$work/err"
[ $? -eq 2 ] || { echo "FAILED: exit status of an unknown study"; failed=1; }
has "reproduce" "the studies are: distortion, trace-width, runtime" "$work/err"
exit $failed
