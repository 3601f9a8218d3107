#!/bin/sh
# bdml adapt as a user meets it: two small domains, fixed and random splits, --json, usage errors.
set -u
bdml=$BDML_COMMAND
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
works() { # NAME ARGUMENTS...: must succeed
    name=$1
    shift
    if ! "$bdml" "$@" >out 2>err </dev/null; then
        echo "FAILED: $name"
        sed 's/^/    /' err
        failed=1
    fi
}
fails() { # CODE TEXT ARGUMENTS...: must fail so
    code=$1
    text=$2
    shift 2
    "$bdml" "$@" >out 2>err </dev/null
    got=$?
    if [ $got -ne "$code" ] || ! grep -qF -- "$text" err; then
        echo "FAILED: bdml $*: exit $got, wanted $code and '$text'"
        sed 's/^/    /' err
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

# Two classes of counts; the second domain has its first column five times as large.
domain() { # FACTOR
    awk -v factor="$1" -v OFS=, 'BEGIN {
        print "a,b,c,class"
        for (i = 0; i < 24; i++) {
            k = i % 2
            print factor * (4 + 3 * k + (i * 7 % 5) / 5), 4 + 3 * (1 - k) + (i * 11 % 7) / 7,
                  2 + (i * 5 % 3), k ? "dog" : "cat"
        }
    }'
}
domain 1 >one.csv
domain 5 >two.csv
awk -v OFS=, 'BEGIN { print "split,part,row"
             for (s = 1; s <= 3; s++) {
                 for (i = 0; i < 16; i++) print s, "source", (i + s) % 24
                 for (i = 0; i < 4; i++) print s, "target", i
                 for (i = 4; i < 24; i++) print s, "test", i
             } }' >splits.csv

domains="--source one.csv --target two.csv --dimensions 2"
works "table" adapt $domains --splits-file splits.csv --methods euclidean,gfk,bdml --subspace 1
for method in euclidean gfk bdml; do has "table" "^$method" out; done
has "table" "unsupervised" out
works "semi" adapt $domains --splits-file splits.csv --semi --methods euclidean,mmdt,sgf --subspace 1 --json
has "semi" '"method": "mmdt"' out
has "semi" '"test_points": 20' out
has "semi" '"labelled_target_points": 4' out
works "fewer trials than splits" adapt $domains --splits-file splits.csv --trials 1 --methods euclidean --json
has "fewer trials than splits" '"splits": 1' out
works "random" adapt $domains --trials 4 --source-per-class 6 --methods euclidean --json --jobs 1
grep -v seconds out >first
works "random again" adapt $domains --trials 4 --source-per-class 6 --methods euclidean --json --jobs 2
grep -v -e seconds -e '"jobs"' out >second
if ! cmp -s first second; then
    echo "FAILED: --jobs 2 gives another result"
    diff first second | head -n 5
    failed=1
fi
works "one method" adapt $domains --trials 2 --source-per-class 6 --distortion 3 -q
has "one method" "^bdml" out
works "refused method" adapt $domains --trials 2 --methods euclidean,mmdt
has "refused method" "use it semi-supervised" out

fails 2 "two domains are needed" adapt --source one.csv
fails 2 "there is no method 'nonesuch'" adapt $domains --methods nonesuch
fails 2 "not both" adapt $domains --method gfk --methods euclidean
fails 2 "bdml adapt" train one.csv --method gfk -o model.bdml
printf '1,source,0\n1,source,99\n' >bad.csv
fails 2 "row 99" adapt $domains --splits-file bad.csv
printf '1,source,0\n1,source,0\n' >bad.csv
fails 2 "twice" adapt $domains --splits-file bad.csv
fails 2 "semi-supervised needs both" adapt $domains --splits-file bad.csv --semi
fails 2 "nowhere.csv" adapt $domains --splits-file nowhere.csv

if [ $failed -eq 0 ]; then echo "all passed"; fi
exit $failed
