#!/bin/sh
# test_full_disk.sh - every command that writes, onto a disk that is full: exit 1, "No space left" in the error, the
# old file as it was, nothing left beside it. The disk is a tmpfs of 512 KiB in a mount namespace of its own; where
# none may be mounted the test is left out.
set -eu
if [ "${1:-}" != inside ]; then
    for how in "unshare -m" "unshare -rm"; do
        if $how sh -c 'mount -t tmpfs none /mnt' 2>/dev/null; then
            exec $how "$0" inside
        fi
    done
    echo "skipped: no file system may be mounted here"
    echo "cases: 0 passed, 0 failed"
    exit 0
fi
. "$BDML_SOURCE/tests/shell_tools.sh"
mkdir disk
mount -t tmpfs -o size=512k none disk
trap 'umount "$work/disk"; rm -rf "$work"' EXIT
data=$BDML_SOURCE/data
passed=0

"$bdml" train "$data/wine.csv" --scale zscore -o m.bdml -q
"$bdml" eval "$data/iris.csv" --methods euclidean,lda --splits 3 --json >run.json
"$bdml" export m.bdml --what M -o m.csv -q
awk 'BEGIN { for (i = 1; i < 40; i++) print i "," i + 1 ",1\n" i "," i + 90 ",0" }' >pairs.csv

# refused NAME ARGUMENTS...: the command writes disk/NAME
refused() { exits 1 "$@"; }
exits() { # exits CODE NAME ARGUMENTS...
    want=$1
    name=$2
    shift 2
    echo "what was there" >"disk/$name"
    dd if=/dev/zero of=disk/filling bs=4k 2>/dev/null || true # until it is full
    code=0
    "$bdml" "$@" >out 2>err || code=$?
    [ "$code" -eq "$want" ] || { cat err >&2; fail "bdml $*: exit $code on a full disk"; }
    has err "No space left"
    [ "$(cat "disk/$name")" = "what was there" ] || fail "bdml $*: the old file is gone"
    [ "$(ls disk | wc -l)" -eq 2 ] || fail "bdml $*: left $(ls disk)"
    rm -f disk/*
    passed=$((passed + 1))
}

refused a.bdml train "$data/wine.csv" --method lda -o disk/a.bdml
# A checkpoint that cannot be kept is no reason to stop the training: it is a warning.
exits 0 a.ck train "$data/wine.csv" --checkpoint disk/a.ck --every 0 -o a.bdml
refused a.bdml.proof train "$data/iris.csv" --hard --scale zscore --reference none -o disk/a.bdml
refused a.csv predict m.bdml "$data/wine.csv" -o disk/a.csv
refused a.csv predict m.bdml "$data/wine.csv" --pairs pairs.csv -o disk/a.csv
refused a.csv transform m.bdml "$data/wine.csv" -o disk/a.csv
refused a.npy transform m.bdml "$data/wine.csv" -o disk/a.npy
refused a.csv neighbors "$data/wine.csv" -o disk/a.csv
for ending in csv tsv svm npy; do
    refused a.$ending convert "$data/wine.csv" disk/a.$ending
done
for ending in csv npy mat onnx; do
    refused a.$ending export m.bdml -o disk/a.$ending
done
refused a.txt export m.bdml "$data/wine.csv" --certificate -o disk/a.txt
refused a.bdml import m.csv --what M -o disk/a.bdml
refused a.csv generate waveform --points 50 -o disk/a.csv
refused a.html report run.json -o disk/a.html
refused a.json report run.json --save disk/a.json -o a.html
for ending in svg png pdf; do
    [ $ending = svg ] || command -v rsvg-convert >/dev/null || continue
    refused a.$ending plot run.json -o disk/a.$ending
done
refused a.svg verify "$data/wine.csv" --pairs-file pairs.csv --methods euclidean --folds 2 --plot disk/a.svg

# Standard output is a file too, and so is what is made on the way.
"$bdml" export m.bdml -o m.mat -q
code=0
"$bdml" info m.bdml >/dev/full 2>err || code=$?
[ "$code" -eq 1 ] || fail "info >/dev/full: exit $code"
has err "No space left"
"$bdml" predict m.bdml "$data/wine.csv" -o /dev/full >out 2>err && fail "predict -o /dev/full: exit 0"
has err "No space left"
passed=$((passed + 2))
if "$bdml" info m.mat >out 2>err; then
    dd if=/dev/zero of=disk/filling bs=4k 2>/dev/null || true
    TMPDIR=$work/disk "$bdml" info m.mat >out 2>err && fail "MAT read through a full folder: exit 0"
    has err "No space left"
    passed=$((passed + 1))
else
    has err "built without MAT files"
fi
echo "cases: $passed passed, 0 failed"
