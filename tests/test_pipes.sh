#!/bin/sh
# test_pipes.sh - files that can be read only once, named pipes here: a command gives what it gives for a file, or says that it
# reads twice. It neither waits for what nobody writes, nor loses the beginning to a look at what kind of file it is.
set -eu
. "$BDML_SOURCE/tests/shell_tools.sh"
cp "$BDML_SOURCE/data/iris.csv" .
fit="--distortion 10 --softness 10 --reference none --targets 1 --impostors 1"
"$bdml" train iris.csv $fit -q -o m.bdml
"$bdml" eval iris.csv --methods euclidean,lda --splits 2 --json >run.json
mkfifo pipe

# through FILE COMMAND...: the command reads FILE from the pipe; exit status in $code
through() {
    file=$1
    shift
    cat "$file" >pipe 2>/dev/null &
    feeder=$!
    code=0
    timeout 20 "$bdml" "$@" >out 2>err || code=$?
    kill $feeder 2>/dev/null || true
    wait $feeder 2>/dev/null || true
}
same() { # same FILE WORD: what comes from the pipe is what comes of FILE
    sed "s/pipe/$1/" out >got
    cmp -s got want || { cat err >&2; diff got want | head -n 5 >&2; fail "$2 reads a pipe otherwise than a file"; }
}
"$bdml" info iris.csv >want
through iris.csv info pipe
same iris.csv info
"$bdml" predict m.bdml iris.csv -q -o want 2>err
through m.bdml predict pipe iris.csv -q -o out.csv
cmp -s want out.csv || fail "predict with the model from a pipe"
through iris.csv predict m.bdml pipe -q -o out.csv
cmp -s want out.csv || fail "predict of a pipe"
"$bdml" plot run.json -q -o want.svg
through run.json plot pipe -q -o out.svg
[ $code = 0 ] || { cat err >&2; fail "plot of a pipe: exit $code"; }
cmp -s want.svg out.svg || fail "plot of a pipe"
through m.bdml certify pipe iris.csv
[ $code = 2 ] || fail "certify of a pipe: exit $code"
has err "certify reads the model twice: give a file instead of 'pipe'"
through run.json report pipe -o out.html
[ $code = 2 ] || fail "report of a pipe: exit $code"
has err "report reads its file several times: give a file instead of 'pipe'"
[ ! -e out.html ] || fail "a page all the same"

# What never ends is refused before it takes all memory, and the time limit holds in the middle of a line.
endless() { # endless TEXT COMMAND...: data from the pipe, which the shell goes on writing
    text=$1
    shift
    code=0
    timeout -k 1 60 "$bdml" "$@" >out 2>err || code=$?
    [ $code = 2 ] || { cat err >&2; fail "$*: exit $code"; }
    has err "$text"
}
endless "/dev/zero: line 1 is longer than 256 MiB: this is no text of rows" train /dev/zero -q -o never.bdml
(printf 'a,b\n1,"'; yes xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx) 2>/dev/null |
    endless "line 2: a quote (\") is opened here and not closed within 256 MiB" train - -q -o never.bdml
code=0
tr '\000' 1 </dev/zero 2>/dev/null | timeout -k 1 60 "$bdml" train - -q --time-limit 0.1 -o never.bdml >out 2>err || code=$?
[ $code = 1 ] || [ $code = 2 ] || { cat err >&2; fail "a line that never ends: exit $code"; }
[ ! -e never.bdml ] || fail "a model of what never ends"

# Nobody writes, and time is over: what waits for a pipe, opened already or not, is broken off.
sleep 60 >pipe &
feeder=$!
mkfifo alone
for from in pipe alone -; do
    code=0
    timeout -k 1 30 "$bdml" train $from -q --time-limit 0.5 -o never.bdml <pipe >out 2>err || code=$?
    [ $code = 1 ] || { cat err >&2; fail "waiting for $from: exit $code"; }
    has err "interrupted: the time limit is over, during: waiting; no model was written"
done
kill $feeder
wait $feeder 2>/dev/null || true
echo "cases: 12 passed, 0 failed"
