#!/bin/sh
# The commands report and plot, on bundled data. In a browser: test_page_browser.sh.
set -u
bdml=$BDML_COMMAND
wine=$BDML_SOURCE/data/wine.csv
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0
check() { # NAME COMMAND...: must succeed
    name=$1
    shift
    if "$@" >"$work/out" 2>"$work/err"; then
        passed=$((passed + 1))
    else
        echo "FAILED: $name"
        sed 's/^/    /' "$work/err"
        failed=$((failed + 1))
    fi
}
quick="--reference zscore --distortion 10 --softness 5 --passes 1 --scale zscore"

cd "$work" || exit 1
"$bdml" eval "$wine" --methods euclidean,bdml $quick --splits 2 --json >eval.json
"$bdml" path "$wine" --splits 2 --grid 1,10,100 --json >path.json 2>/dev/null
"$bdml" train "$wine" $quick -o wine.bdml --json >train.json
"$bdml" train "$BDML_SOURCE/data/iris.csv" --hard --distortion 10 -o i.bdml --json >infeasible.json 2>/dev/null
check "report of results" "$bdml" report eval.json path.json train.json -o all.html
for words in "Error of each method" "Error against distortion" "The certificate" "Spectrum of M" \
    "What is mistaken for what" "Which features matter" "The optimum at each K" "bdml eval" "prefers-color-scheme: dark"; do
    check "page has '$words'" grep -q -- "$words" all.html
done
check "report of a proof" "$bdml" report infeasible.json -o none.html
check "proof is told" grep -q "there is none" none.html
check "report of a model" "$bdml" report wine.bdml -o model.html
for words in "The certificate" "Spectrum of M" "Which features matter" "wine.bdml"; do
    check "page of a model has '$words'" grep -q -- "$words" model.html
done
check "report of a model and results" "$bdml" report wine.bdml eval.json -o both.html
check "errors stand there too" grep -q "Error of each method" both.html
"$bdml" report i.bdml.proof -o no.html 2>said
check "a proof is no model" grep -q "is a proof, not a model" said
cp wine.bdml data.bdml
check "report of data" "$bdml" report "$wine" --methods euclidean --splits 2 $quick -o data.html \
    --save data.json
check "its model has a name of its own" test -s data.report.bdml
check "a model of the same name is left alone" cmp wine.bdml data.bdml
check "results are kept" "$bdml" report data.json -o again.html
check "the same page again" cmp data.html again.html
for figure in errors path walk bracket features view spectrum convergence ellipsoids; do
    check "plot $figure" "$bdml" plot eval.json path.json train.json --figure $figure -o $figure.svg
    check "picture of $figure" grep -q '<circle\|class="thin"\|<rect class="column"' $figure.svg
done
"$bdml" plot eval.json --width 1234 -o wide.svg >/dev/null
check "the width asked for" grep -q 'width="1234"' wide.svg
if command -v rsvg-convert >/dev/null 2>&1; then
    check "plot as PNG" "$bdml" plot eval.json --width 1234 -o wide.png
    check "its width" test "$(od -An -tu1 -j16 -N4 wide.png | tr -s ' ')" = " 0 0 4 210"
fi
# what cannot be drawn is an error
PATH=/nonexistent "$bdml" plot eval.json -o none.png 2>said
check "plot that cannot draw exits 1" test $? -eq 1
check "the package is named" grep -q librsvg2-bin said
check "no picture then" test ! -e none.png
# what pictures are made of, against direct computation
if command -v python3 >/dev/null 2>&1; then
    iris=$BDML_SOURCE/data/iris.csv
    "$bdml" train "$iris" --scale zscore --reference none --distortion 10 --softness 5 --passes 1 -o iris.bdml --json >iris.json
    "$bdml" export iris.bdml --what M -q -o m.csv
    "$bdml" path "$iris" --scale zscore --reference none --splits 1 --grid 1,3,10,100 --json >iris-path.json 2>/dev/null
    check "features, neighbours and walk" python3 "$BDML_SOURCE/tests/check_pictures.py" "$iris" m.csv iris.json iris-path.json
else
    echo "left out: python3 is not installed"
fi
# a result is not data, and not every JSON is a result
echo '[1, 2' >broken.json
echo '{"a": 1' >half.json
for bad in "half.json" "absent.json"; do
    if "$bdml" report $bad -o bad.html 2>said; then
        echo "FAILED: $bad was taken"
        failed=$((failed + 1))
    fi
    check "no page of $bad" test ! -e bad.html
done
"$bdml" report half.json -o bad.html 2>said
check "half.json is told" grep -q "half.json, line" said

# rows of a constraint file are rows of the whole data
printf '0,1,1\n2,70,0\n' >pairs.csv
"$bdml" eval "$wine" --method euclidean --pairs-file pairs.csv --splits 2 2>said
check "eval refuses constraint files" grep -q "constraint files name rows of the whole data" said
{ echo "a,b,class"; echo "1,,x"; echo "2,3,x"; echo "4,5,y"; } >holes.csv
"$bdml" train holes.csv --missing drop --pairs-file pairs.csv 2>said
check "rows do not shift" grep -q "would mean other rows" said
# the line that is told gives the same again
"$bdml" eval "$wine" --method euclidean --splits 2 --stratify=on --json >line.json
check "flags are told" grep -q -- "--splits 2 --stratify\"" line.json
# a cell is of a seed
"$bdml" reproduce distortion "$BDML_SOURCE/data/iris.csv" --splits 1 --results cells --seed 7 >/dev/null 2>&1
check "cells have a seed" grep -q "seed 7" cells/distortion.json

echo "cases: $passed passed, $failed failed"
[ $failed -eq 0 ]
