#!/bin/sh
# Draw docs/images/distortion.svg: what a cap on distortion does to a learned metric.
#   docs/images/make.sh [BUILD]      needs the built command, gnuplot and awk
#
# Two elongated classes in the plane and some noise; three metrics learned by the command with K = 1, 8
# and 1000; for each the points at one distance from a point are an ellipse, whose axes are to each other
# as sqrt(kappa(M)) to 1.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
bdml=${1:-$here/../../build}/cli/bdml
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C

# A small generator of our own, so that every awk gives the same points.
awk '
    function uniform() { s = (s * 16807) % 2147483647; return s / 2147483647 }
    function normal() { return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform()) }
    BEGIN {
        s = 20150511; print "x,y,class"
        for (i = 0; i < 120; i++) {
            along = 1.5 * normal(); across = 0.22 * normal() + (i % 2 ? 0.55 : -0.55)
            if (i % 20 < 2) across = 0.8 * normal()     # noise: a tenth of the points
            printf "%.4f,%.4f,%s\n", 0.87 * along - 0.5 * across, 0.5 * along + 0.87 * across, i % 2 ? "b" : "a"
        }
    }' >"$work/points.csv"
for class in a b; do
    awk -F, -v c=$class '$3 == c { print $1, $2 }' "$work/points.csv" >"$work/$class.txt"
done

# The ball around a point in the middle of class a: (z - p)' M (z - p) = r^2, with r such that all three
# ellipses have the same area.
x=0.275 y=-0.4785
for K in 1 8 1000; do
    "$bdml" train "$work/points.csv" -q --rule class --reference none --distortion $K --softness 20 \
        --gap 1e-6 -o "$work/m.bdml"
    "$bdml" export "$work/m.bdml" --what M -q -o "$work/m.csv"
    awk -F, -v out="$work/ellipse$K.txt" -v x=$x -v y=$y '
        $1 + 0 == $1 { row++; m[row, 1] = $1; m[row, 2] = $2 }
        END {
            a = m[1, 1]; b = (m[1, 2] + m[2, 1]) / 2; c = m[2, 2]
            mean = (a + c) / 2; root = sqrt((a - c) ^ 2 / 4 + b * b)
            l1 = mean + root; l2 = mean - root                  # l1 >= l2
            t = 0.5 * atan2(2 * b, a - c)                       # direction of l1: the short axis
            unit = 0.62 * (l1 * l2) ^ 0.25
            for (i = 0; i <= 72; i++) {
                u = 6.283185307179586 * i / 72
                p = unit * cos(u) / sqrt(l1); q = unit * sin(u) / sqrt(l2)
                printf "%.4f %.4f\n", x + p * cos(t) - q * sin(t), y + p * sin(t) + q * cos(t) >out
            }
            printf "%.3g\n", sqrt(l1 / l2)
        }' "$work/m.csv" >"$work/ratio$K.txt"
done

cat >"$work/plot.gp" <<END
set terminal svg size 960,300 background rgb 'white' font 'Helvetica,14' noenhanced
set multiplot layout 1,3 margins 0.01,0.99,0.03,0.88 spacing 0.015,0
set size ratio -1
set xrange [-3.3:3.6]
set yrange [-2.7:2.5]
unset key
unset tics
set border lc rgb '#bbbbbb'
do for [i=1:3] {
    set title word('Euclid bounded loose', i).': K = '.word('1 8 1000', i).', axes 1 : '.word('$(cat "$work/ratio1.txt") $(cat "$work/ratio8.txt") $(cat "$work/ratio1000.txt")', i) tc rgb '#222222'
    plot '$work/a.txt' with points pt 7 ps 0.45 lc rgb '#0072b2', \\
         '$work/b.txt' with points pt 5 ps 0.45 lc rgb '#d55e00', \\
         '$work/ellipse'.word('1 8 1000', i).'.txt' with filledcurves closed fs transparent solid 0.2 noborder lc rgb '#009e73', \\
         '$work/ellipse'.word('1 8 1000', i).'.txt' with lines lw 2.5 lc rgb '#006b4f', \\
         '+' using ($x):($y) every ::0::0 with points pt 2 ps 0.8 lw 2 lc rgb '#000000'
}
unset multiplot
END
gnuplot -d "$work/plot.gp" >"$work/distortion.svg"
mv "$work/distortion.svg" "$here/distortion.svg"
cat "$work"/ratio*.txt
