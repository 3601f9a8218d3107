#!/bin/sh
# The main job on bundled data, for a person to watch: compare, learn, prove, use.
set -eu
cd "$(dirname "$0")/.."
bdml="${1:-build}/cli/bdml"
out=out/demo
mkdir -p "$out"

say() { printf '\n%s\n' "$*"; }
run() { # show the command, then do it
    printf '\n$ bdml'
    printf ' %s' "$@"
    printf '\n'
    "$bdml" "$@"
}

say "Wine: 178 bottles, 13 chemical measurements, 3 growers. Can the nearest bottles tell the grower?"
run info data/wine.csv
say "1. Hide 30 % of the bottles, let the 3 nearest of the others vote; five times over.
   euclidean: as measured, scaled.  bdml: a learned metric whose distortion is capped, the cap
   chosen on the training bottles alone."
run eval data/wine.csv --methods euclidean,bdml --scale zscore --splits 5
say "2. Learn from all bottles and keep the metric with its proof."
run train data/wine.csv --scale zscore -o "$out/wine.bdml"
say "3. Do not take our word for it: an independent checker recomputes the claim from the raw data."
run certify "$out/wine.bdml" data/wine.csv
say "4. Use it: points mapped by L, so that plain Euclidean distance is the learned one."
run transform "$out/wine.bdml" data/wine.csv -o "$out/wine-mapped.csv"
say "5. Look at it: everything above on one page, with the error against the distortion."
run report data/wine.csv --methods euclidean,bdml --scale zscore --splits 3 --quiet -o "$out/report.html"
say "Report: $out/report.html (open it in a browser)
Model: $out/wine.bdml   Mapped points: $out/wine-mapped.csv
Your own data: $bdml train FILE.csv    All commands: $bdml help"
