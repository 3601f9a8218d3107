#!/bin/sh
# The main job on bundled data, for a person to watch: compare, learn, prove, use, look.
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
# every column at one scale is the reference; the metric learned may stretch it by a capped factor
settings="--scale zscore --reference none"

say "Segment: 2310 patches of outdoor photographs, 19 measurements of each, 7 classes from brick to window.
Can the nearest patches tell what a patch shows?"
run info data/segment.csv
say "1. Hide 30 % of the patches, let the 3 nearest of the others vote; five times over.
   euclidean: every column at the same scale. This is the reference here.
   bdml: a metric learned from the other patches, whose distortion relative to that reference is
   capped, the cap chosen on the training patches alone."
run eval data/segment.csv --methods euclidean,bdml $settings --splits 5 | tee "$out/eval.txt"
awk '$1 == "euclidean" { plain = $2 } $1 == "bdml" && $2 + 0 > 0 { learned = $2; gain = -$4; error = $5 }
    END {
        if (plain == "" || learned == "") exit 1 # a pipe hides that eval failed
        printf "\nLearning pays: the reference errs on %s %% of the hidden patches, the metric learned\n", plain
        printf "on %s %%. The gain is %.2f +- %.2f points, paired by split.\n", learned, gain, error
    }' "$out/eval.txt"
say "2. Learn from all patches and keep the metric with its proof."
run train data/segment.csv $settings -o "$out/segment.bdml"
say "3. Do not take our word for it: an independent checker recomputes the claim from the raw data."
run certify "$out/segment.bdml" data/segment.csv
say "4. Use it: points mapped by L, so that plain Euclidean distance is the learned one."
run transform "$out/segment.bdml" data/segment.csv -o "$out/segment-mapped.csv"
say "5. Look at it: all of this on one page, with the error against the distortion."
run report data/segment.csv --methods euclidean,bdml $settings --splits 5 -o "$out/report.html"
say "Report: $out/report.html (open it in a browser)
Model: $out/segment.bdml   Mapped points: $out/segment-mapped.csv
Your own data: $bdml train FILE.csv    All commands: $bdml help
To have bdml on your PATH: make install PREFIX=~/.local"
