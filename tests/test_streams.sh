#!/bin/sh
# test_streams.sh - streams that are closed, and signals that ask to end: nothing is written where it does not belong, and nothing is left.
set -u
. "$BDML_SOURCE/tests/shell_tools.sh"
wine=$BDML_SOURCE/data/wine.csv
train="train $wine --distortion 10 --softness 10 --reference none --targets 1 --impostors 1"
"$bdml" $train -q -o want.bdml

# ---- closed streams: the numbers of none of them is given to a file
"$bdml" export want.bdml -q -o want.npy
for closed in ">out 2>&-" ">&- 2>&-" "<&- >&- 2>&-"; do
    eval "\"\$bdml\" \$train -v -o m.bdml $closed"
    code=$?
    ok "train $closed: exit $code" [ $code -le 1 ]
    "$bdml" export m.bdml -q -o m.npy 2>err
    ok "train -v $closed writes a whole model" cmp -s m.npy want.npy
    rm -f m.bdml
done
for command in "info want.bdml" "predict want.bdml $wine -q"; do
    "$bdml" $command >&- 2>err
    ok "$command >&-: exit 1" [ $? -eq 1 ]
    ok "$command >&-: says so" grep -q "Bad file descriptor" err
done
"$bdml" info - <&- >out 2>err
ok "standard input that is closed: exit 2" [ $? -eq 2 ]
ok "standard input that is closed is told" grep -q "Bad file descriptor" err

# ---- a limit on the size of files
echo old >small.npy
(ulimit -f 1 && exec "$bdml" convert "$BDML_SOURCE/data/segment.csv" small.npy) >out 2>err
ok "ulimit -f: exit 1" [ $? -eq 1 ]
ok "ulimit -f is told" grep -q "small.npy: writing failed: File too large" err
ok "ulimit -f: the old file stays" [ "$(cat small.npy)" = old ]
(ulimit -f 1 && exec "$bdml" convert "$BDML_SOURCE/data/segment.csv" -) >large 2>err
ok "ulimit -f, standard output: exit 1" [ $? -eq 1 ]

# ---- signals, while it writes
mkfifo pipe
for i in 1 2 3 4 5 6 7 8 9; do tail -n +2 "$wine"; done >rows.csv
signalled() { # signalled NAME COMMAND...: once a row was read; exit status in $code
    name=$1
    shift
    "$@" "$bdml" transform want.bdml pipe -o z.csv >out 2>err &
    pid=$!
    exec 3>pipe
    i=0
    while [ ! -e z.csv.bdml-tmp-0 ] && [ $i -lt 100 ]; do
        [ $i = 0 ] && cat "$wine" >&3 || cat rows.csv >&3
        sleep 0.1
        i=$((i + 1))
    done
    kill -"$name" $pid
    sleep 0.3
    exec 3>&-
    wait $pid
    code=$?
}
for name in INT TERM HUP XCPU; do
    signalled $name env
    ok "SIG$name: exit 1, not $code" [ "$code" = 1 ]
    ok "SIG$name is told" grep -q "bdml: interrupted: .*; nothing was written" err
    ok "SIG$name: nothing is left" [ ! -e z.csv -a ! -e z.csv.bdml-tmp-0 ]
    rm -f z.csv*
done
signalled HUP nohup
ok "nohup: exit 0, not $code" [ "$code" = 0 ]
ok "nohup: it goes on" [ -s z.csv ]
rm -f z.csv
# Processor time that is used up: as if it had been interrupted.
"$bdml" generate waveform --points 3000 -o long.csv -q
(ulimit -S -t 1 && exec "$bdml" eval long.csv --method whiten --splits 100000 -q) >out 2>err
ok "ulimit -t: exit 1" [ $? -eq 1 ]
ok "ulimit -t is told" grep -q "bdml: interrupted" err
ok "no temporary files are left" [ -z "$(find . -name '*.bdml-tmp*')" ]
echo "cases: $passed passed, $failed failed"
[ $failed = 0 ]
