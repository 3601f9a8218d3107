#!/bin/sh
# The page of `bdml report` in headless Chromium (drive_page.py); skipped with a word where that is not installed.
#   BDML_SHOTS=FOLDER keeps screenshots: light, dark, phone, wide, no script, and the page as printed.
set -eu
bdml=$BDML_COMMAND
wine=$BDML_SOURCE/data/wine.csv
for program in chromium chromedriver python3; do
    command -v $program >/dev/null 2>&1 || {
        echo "skipped: $program is not installed (Debian: chromium, chromium-driver, python3)"
        exit 0
    }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
settings="--scale zscore --reference none --quiet --json"
"$bdml" eval "$wine" --methods euclidean,bdml --splits 3 --distortion 10 --softness 5 --passes 1 $settings >eval.json
"$bdml" path "$wine" --splits 2 --grid 1,3,10,100,1000 $settings >path.json
"$bdml" train "$wine" --distortion 10 --softness 5 --passes 1 $settings -o wine.bdml >train.json
"$bdml" report eval.json path.json train.json --quiet -o page.html
python3 "$BDML_SOURCE/tests/drive_page.py" page.html path.json ${BDML_SHOTS:+"$BDML_SHOTS"}
