#!/bin/sh
# test_retrieve_cli.sh - retrieve as a user runs it: the table, the grid, its picture, and what is refused.
set -eu
bdml=$BDML_COMMAND
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() { echo "FAILED: $*" >&2; exit 1; }
has() { grep -q -- "$2" "$1" || { cat "$1" >&2; fail "$1 lacks: $2"; }; }

# 8 classes at the corners of a cube, 12 rows each, beside one loud column.
awk 'BEGIN {
    s = 12345
    print "a,b,c,noise,class"
    for (i = 0; i < 96; i++) {
        line = ""
        for (j = 0; j < 4; j++) {
            s = (s * 16807) % 2147483647
            v = j < 3 ? int((i % 8) / 2 ^ j) % 2 : 0
            line = line v + (j < 3 ? 0.3 : 6) * (s / 2147483647 - 0.5) ","
        }
        print line "k" i % 8
    }
}' >cube.csv

"$bdml" retrieve cube.csv --methods whiten,lda --splits 3 >table 2>err
has table "3 splits: 32 rows of 4 classes to learn from; retrieval among 48 rows of 4 unseen classes,"
has table "^euclidean .* 1 "
has table "^whiten "
has table "^lda "
has table "the space as it is, on the same splits"

"$bdml" retrieve cube.csv --grid 1,4,100 --splits 3 --plot unseen.svg --json >run.json 2>err
has run.json '"ndcg_at_10"'
has run.json '"distortion": 100.0'
has unseen.svg "unseen classes"
has unseen.svg "mAP@R"
"$bdml" plot run.json --figure unseen -o again.svg >out
cmp unseen.svg again.svg || fail "plot draws another picture than retrieve --plot"

"$bdml" retrieve cube.csv --plot x.svg >out 2>err && fail "a plot without K was drawn"
has err "give the K with --grid"
"$bdml" retrieve cube.csv --unseen 0.9 --methods lda >out 2>err && fail "one class to learn from was taken"
has err "at least 2 are needed on either side"
[ ! -e x.svg ] || fail "x.svg was left behind"
echo passed
