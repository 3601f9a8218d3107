#!/bin/sh
# bdml-check: the certificate in the documentation, and those of every form of training on bundled data.
set -u
bdml=$BDML_COMMAND
check=$BDML_BUILD/check/bdml-check
data=$BDML_SOURCE/data
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0
expect() { # STATUS NAME COMMAND...: must end with that status
    wanted=$1
    name=$2
    shift 2
    "$@" >"$work/out" 2>&1
    status=$?
    if [ $status = "$wanted" ]; then
        passed=$((passed + 1))
    else
        echo "FAILED: $name: status $status, not $wanted"
        sed 's/^/    /' "$work/out"
        failed=$((failed + 1))
    fi
}
certified() { # NAME STATUS DATA OPTIONS...: train ends with STATUS, and what it claims is proven
    form=$1
    ends=$2
    file=$3
    shift 3
    expect "$ends" "train $form" "$bdml" train "$file" -o "$work/m.bdml" -q "$@"
    model=$work/m.bdml
    [ "$ends" = 3 ] && model=$work/m.bdml.proof
    expect 0 "export $form" "$bdml" export "$model" "$file" --certificate -o "$work/$form.cert" -q
    expect 0 "check $form" "$check" "$work/$form.cert" "$file"
}

awk '/^    bdml-certificate/ { on = 1 } on && /^    / { print substr($0, 5) }' \
    "$BDML_SOURCE/docs/certificate.md" >"$work/doc.cert"
expect 0 "the documentation's" "$check" "$work/doc.cert"
expect 2 "no argument" "$check"
expect 2 "no file" "$check" "$work/none"
printf 'bdml-certificate 2\n' >"$work/new.cert"
expect 2 "a newer version" "$check" "$work/new.cert"

certified pair 0 "$data/iris.csv" --scale zscore --hard --kind pair --distortion 10
certified active 0 "$data/iris.csv" --scale zscore --hard --kind pair --distortion 10 --trace 18.1
certified trace 3 "$data/iris.csv" --scale zscore --hard --kind pair --distortion 10 --trace 15
certified order 3 "$data/iris.csv" --hard --kind triplet --distortion 10
certified soft 0 "$data/wine.csv" --scale zscore --pca 5 --distortion 100 --rule class
certified hinge 0 "$data/iris.csv" --scale minmax --distortion 10 --rule class --loss hinge
certified within 0 "$data/iris.csv" --distortion 10 --reference within
certified diagonal 0 "$data/wine.csv" --scale zscore --distortion 10 --diagonal --rule class
certified unit 0 "$data/wine.csv" --scale unit --hard --kind pair --distortion 30
certified rank 0 "$data/wine.csv" --scale zscore --distortion 10 --rank 3
certified lifted 0 "$data/iris.csv" --scale zscore --solver mwu --kind pair --distortion 10 --trace 40 --rounds 300
certified one 0 "$data/iris.csv" --hard --kind pair --distortion 1
certified wide 0 "$data/iris.csv" --hard --kind pair --distortion 1e9

# Other data, other claims.
expect 2 "data of other columns" "$check" "$work/pair.cert" "$data/wine.csv"
sed '3s/^[^,]*/5.2/' "$data/iris.csv" >"$work/other.csv"
expect 1 "one number of the data" "$check" "$work/pair.cert" "$work/other.csv"
sed '$d' "$data/iris.csv" >"$work/short.csv"
expect 1 "a row less" "$check" "$work/pair.cert" "$work/short.csv"
sed '2s/Iris-setosa/Iris-virginica/' "$data/iris.csv" >"$work/class.csv"
expect 1 "a class of the data" "$check" "$work/within.cert" "$work/class.csv"
expect 0 "the label by number" "$check" "$work/pair.cert" "$data/iris.csv" 5
expect 2 "no label" "$check" "$work/pair.cert" "$data/iris.csv" 0

says() { # NAME TEXT: in what was printed last
    grep -qF -- "$2" "$work/out" && passed=$((passed + 1)) && return
    echo "FAILED: $1: '$2' is not in"
    sed 's/^/    /' "$work/out"
    failed=$((failed + 1))
}
# Where it differs: line and column of the file, both from 1.
expect 1 "line and column" "$check" "$work/pair.cert" "$work/other.csv"
says "line and column" "line 3, column 1 of the data is not what is stated"

# A file that is not plain is refused, not called other data; export says how to check one.
tr ',.' ';,' <"$data/iris.csv" >"$work/comma.csv"
expect 2 "decimal commas" "$check" "$work/pair.cert" "$work/comma.csv"
says "decimal commas" "line 2, column 1: '5,1' is not a plain number"
says "decimal commas" "bdml convert FILE plain.csv"
expect 2 "more columns" "$check" "$work/pair.cert" "$data/wine.csv"
says "more columns" "bdml convert FILE plain.csv"
expect 2 "a model" "$check" "$work/m.bdml"
says "a model" "this is a model: make its certificate with bdml export MODEL DATA --certificate"

fit="--scale zscore --hard --kind pair --distortion 10 -q"
followed() { # NAME FILE OPTIONS...: what export prints, run as it stands, confirms
    form=$1
    file=$2
    shift 2
    # shellcheck disable=SC2086
    expect 0 "train $form" "$bdml" train "$file" -o "$work/f.bdml" $fit "$@"
    expect 0 "export $form" "$bdml" export "$work/f.bdml" "$file" --certificate -o "$work/f.cert"
    sed -n 's/^  bdml/bdml/p' "$work/out" | sed "s#^bdml-check#$check#; s#^bdml convert#$bdml convert#" >"$work/lines"
    expect 0 "lines of $form" sh -ec "cd '$work' && . ./lines"
}
followed plain "$data/iris.csv"
[ "$(wc -l <"$work/lines")" = 1 ] || { echo "FAILED: plain data need no convert"; failed=$((failed + 1)); }
awk -F, -v OFS=, '{ print $5, $1, $2, $3, $4 }' "$data/iris.csv" >"$work/first.csv"
followed "label first" "$work/first.csv" --label 1
[ "$(wc -l <"$work/lines")" = 1 ] || { echo "FAILED: a label elsewhere needs no convert"; failed=$((failed + 1)); }
followed comma "$work/comma.csv" --decimal ,
awk -v OFS=, '{ print (NR == 1 ? "" : NR - 1), $0 }' "$data/iris.csv" >"$work/index.csv"
followed index "$work/index.csv"
sed '5s/^[^,]*//' "$data/iris.csv" >"$work/holes.csv"
followed mean "$work/holes.csv" --missing mean
followed drop "$work/holes.csv" --missing drop

echo "cases: $passed passed, $failed failed"
[ $failed = 0 ]
