#!/bin/sh
# test_verify_cli.sh - verify, train --pairs-file, predict --pairs, info and certify as a user runs them.
set -eu
. "$BDML_SOURCE/tests/shell_tools.sh"

# 60 people in 3 folds, 2 pictures each: 2 columns that tell people apart, 4 loud ones that do not. Plain
# arithmetic instead of random numbers, so that every awk gives the same.
awk 'BEGIN {
    s = 12345
    for (p = 0; p < 60; p++) for (k = 0; k < 2; k++) {
        line = ""
        for (j = 0; j < 6; j++) {
            s = (s * 16807) % 2147483647
            noise = s / 2147483647 - 0.5
            v = j == 0 ? p % 8 : j == 1 ? int(p / 8) : 0
            line = line (j ? "," : "") (j < 2 ? v + 0.5 * noise : 20 * noise)
        }
        print line
    }
}' >points.csv
awk 'BEGIN {
    print "fold,a,b,same"
    for (p = 0; p < 60; p++) {
        f = int(p / 20); other = f * 20 + (p - f * 20 + 7) % 20
        print f + 1 "," 2 * p "," 2 * p + 1 ",1"
        print f + 1 "," 2 * p "," 2 * other + 1 ",0"
    }
}' >pairs.csv

# ---- verify
"$bdml" verify points.csv --label none --pairs-file pairs.csv --methods euclidean,bdml,sub-sml,csml >table 2>err
has table "3 folds, given; metric and threshold from the other folds"
has table "^bdml "
has table "fold by fold"
"$bdml" verify points.csv --label none --pairs-file pairs.csv --methods euclidean,bdml --pca 5 --json >one.json 2>err
"$bdml" verify points.csv --label none --pairs-file pairs.csv --methods euclidean,bdml --pca 5 --jobs 2 \
    --json >two.json 2>err
grep -v fit_seconds one.json >one
grep -v fit_seconds two.json >two
cmp one two || fail "--jobs changes the result"
has one.json '"false_positive"'
# a metric is worth a lot here
awk '/"accuracy_mean"/ { gsub(/[^0-9.]/, ""); v[n++] = $0 } END { exit !(v[1] > v[0] + 10) }' one.json ||
    fail "bdml does not beat euclidean"
# folds of our own, from a file without them
cut -d, -f2- pairs.csv >plain.csv
"$bdml" verify points.csv --label none --pairs-file plain.csv --folds 3 --method euclidean >table 2>err
has table "3 folds, dealt, no row in two"
"$bdml" verify points.csv --label none --pairs-file pairs.csv --method euclidean --plot roc.svg >table 2>err
has roc.svg "AUC"
has roc.svg "by chance"
has table "roc.svg"

# ---- a model that answers
"$bdml" train points.csv --label none --pairs-file pairs.csv -o faces.bdml >said 2>err
has said "^threshold "
"$bdml" certify faces.bdml points.csv --label none >said 2>err || fail "certify refutes"
"$bdml" info faces.bdml >said 2>err
has said "^threshold "
"$bdml" info faces.bdml --all >said 2>err
has said "^verification "
has said "\"threshold\": "
"$bdml" predict faces.bdml points.csv --label none --pairs plain.csv -o answers.csv >said 2>err
has said "^accuracy "
has answers.csv "^i,j,score,same$"
test "$(wc -l <answers.csv)" -eq 121 || fail "not 120 answers"
"$bdml" predict faces.bdml points.csv --label none --pairs plain.csv --json >said 2>err
has said '"threshold"'
"$bdml" train points.csv --label none --pairs-file pairs.csv --method csml -o csml.bdml >/dev/null 2>err
"$bdml" predict csml.bdml points.csv --label none --pairs plain.csv --json >said 2>err
has said '"score": "cosine"'

# ---- mistakes are named
if "$bdml" verify points.csv --label none >said 2>err; then fail "verify without pairs"; fi
has err "needs --pairs-file"
echo "1,2,3,4,5" >bad.csv
if "$bdml" verify points.csv --label none --pairs-file bad.csv >said 2>err; then fail "bad pairs"; fi
has err "line 1 has 5 columns"
if "$bdml" verify points.csv --label none --pairs-file pairs.csv --methods euclidean,nonsense >said 2>err; then
    fail "unknown method"
fi
has err "there is no method 'nonsense'"
echo "ok"
