#!/bin/sh
# test_outputs.sh - what is where an output goes: permissions and links stay as they are, what is protected is not replaced, and
# whatever cannot be written is refused before the work begins.
set -u
. "$BDML_SOURCE/tests/shell_tools.sh"
wine=$BDML_SOURCE/data/wine.csv
"$bdml" train "$wine" --method lda -o m.bdml -q
"$bdml" predict m.bdml "$wine" -q >want
mode() { stat -c %a "$1"; }

# ---- permissions: of the file that was there, else those of any new file
umask 027
predict() { "$bdml" predict m.bdml "$wine" -q -o "$1" >out 2>err; }
for m in 600 640 664 755; do
    echo old >kept.csv
    chmod $m kept.csv
    predict kept.csv
    ok "a file of mode $m keeps it, got $(mode kept.csv)" [ "$(mode kept.csv)" = $m ]
done
predict fresh.csv
ok "a new file has the mode that the umask gives, not $(mode fresh.csv)" [ "$(mode fresh.csv)" = 640 ]
for command in "train $wine --method lda -q -o private.bdml" "convert $wine private.npy" "export m.bdml -q -o private.onnx" \
    "train $wine -q --checkpoint private.ck --every 0 -o x.bdml"; do
    for f in private.bdml private.npy private.labels.npy private.onnx private.ck; do echo old >$f && chmod 600 $f; done
    "$bdml" $command >out 2>err
    ok "$command: none else may read it" [ -z "$(find . -name 'private.*' ! -perm 600)" ]
done
if [ "$(id -u)" = 0 ]; then
    echo old >theirs.csv
    chown 12345:23456 theirs.csv
    chmod 604 theirs.csv
    predict theirs.csv
    ok "the owner stays" [ "$(stat -c %u:%g:%a theirs.csv)" = 12345:23456:604 ]
fi
mkfifo pipe
for i in 1 2 3 4 5 6 7 8 9; do tail -n +2 "$wine"; done >rows.csv
echo old >slow.csv
chmod 600 slow.csv
"$bdml" transform m.bdml pipe -q -o slow.csv >out 2>err &
exec 3>pipe
i=0
while [ ! -e slow.csv.bdml-tmp-0 ] && [ $i -lt 100 ]; do # it writes what it has read
    [ $i = 0 ] && cat "$wine" >&3 || cat rows.csv >&3
    sleep 0.1
    i=$((i + 1))
done
ok "not even while it is written" [ "$(mode slow.csv.bdml-tmp-0)" = 600 ]
exec 3>&-
wait

# ---- a file that is protected from writing stays. Root may write everything, so another user is asked for.
as_other() { "$@"; }
if [ "$(id -u)" = 0 ]; then
    command -v setpriv >/dev/null && as_other() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
fi
mkdir open
chmod 755 "$work"
chmod 777 open
echo precious >open/protected.csv
chmod 444 open/protected.csv
cp m.bdml open
chmod 644 open/m.bdml
if ! as_other test -w open/protected.csv && as_other test -x "$bdml" -a -r "$wine"; then
    as_other "$bdml" predict open/m.bdml "$wine" -q -o open/protected.csv >out 2>err
    ok "a protected file: exit 2" [ $? -eq 2 ]
    ok "a protected file is named" grep -q "open/protected.csv: cannot be written: Permission denied" err
    ok "a protected file stays" [ "$(cat open/protected.csv)" = precious ]
    echo old >open/shared.csv
    chmod 666 open/shared.csv
    as_other "$bdml" predict open/m.bdml "$wine" -q -o open/shared.csv >out 2>err
    ok "a file that others may write is written" cmp -s open/shared.csv want
    ln -s ../closed/x open/link.csv
    mkdir -m 700 closed
    as_other "$bdml" predict open/m.bdml "$wine" -q -o open/link.csv >out 2>err
    ok "a link into a closed folder is refused" [ $? -eq 2 ]
    ok "and stays a link" [ -L open/link.csv ]
fi

# ---- links
mkdir there
ln -s there/new.csv to-new
ln -s to-new to-to-new
predict to-to-new
ok "a link to what is not there yet stays" [ -L to-to-new -a -L to-new ]
ok "and what it names is written" cmp -s there/new.csv want
ln -s round-b round-a
ln -s round-a round-b
predict round-a
ok "links that go round: exit 2" [ $? -eq 2 ]
ok "links that go round stay" [ -L round-a ]
ok "and are told" grep -q "round-a: cannot be written: Too many levels of symbolic links" err
ln -s nowhere/x to-nowhere
predict to-nowhere
ok "a link into no folder: exit 2" [ $? -eq 2 ]
ok "a link into no folder stays" [ -L to-nowhere ]

# ---- names that are as long as names may be, and longer
long=$(printf 'n%.0s' $(seq 251)).csv
predict "$long"
ok "a name of 255 characters" cmp -s "$long" want
ok "with nothing beside it" [ "$(ls | grep -c nnn)" = 1 ]
"$bdml" generate waveform --points 100 -o "n$long" >out 2>err
ok "a longer name: exit 2" [ $? -eq 2 ]
ok "a longer name is told" grep -q "cannot be written: File name too long" err

# ---- what is open already: written where it is, not from the start and not replaced
echo before >all
"$bdml" predict m.bdml "$wine" -q -o /dev/stdout >>all 2>err
ok "/dev/stdout that appends" [ "$(head -n 1 all)" = before -a "$(wc -l <all)" = "$(($(wc -l <want) + 1))" ]
"$bdml" predict m.bdml "$wine" -q -o /dev/fd/5 5>five 2>err
ok "/dev/fd/5" cmp -s five want
"$bdml" predict m.bdml "$wine" -q -o /dev/fd/77 >out 2>err
ok "a descriptor that is not open: exit 2" [ $? -eq 2 ]

# ---- an output that is an input, by whatever option or rule it is one; two outputs that are one file. Told before the work begins.
refused() { # refused WHAT FILE TEXT ARGUMENTS...: exit 2, with this text, and FILE as it was
    what=$1 file=$2 text=$3
    shift 3
    before=$(cksum <"$file")
    "$bdml" "$@" >out 2>err
    ok "$what: exit 2" [ $? -eq 2 ]
    ok "$what: told" grep -q -- "$text" err
    ok "$what: nothing else" [ "$(wc -l <err)" = 1 ]
    ok "$what: $file stays" [ "$(cksum <"$file")" = "$before" ]
}
input="the output would overwrite the input"
two="two outputs need names of their own"
cp "$wine" data.csv
"$bdml" convert data.csv data.npy -q
printf '0,1,1\n0,100,0\n' >pairs.csv
refused "the pairs of predict" pairs.csv "$input" predict m.bdml data.csv --pairs pairs.csv -o pairs.csv
cp m.bdml from.csv
refused "the model that mapped the rows" from.csv "$input" transform m.bdml data.csv --from from.csv -o from.csv
"$bdml" export m.bdml -q -o map.csv
refused "the map of a reference" map.csv "$input" train data.csv --reference map.csv -o map.csv
refused "a checkpoint over it" map.csv "$input" train data.csv --reference map.csv --checkpoint map.csv -o x.bdml
refused "labels found beside" data.labels.npy "$input's labels" convert data.npy -o data.labels.npy
refused "a model over them" data.labels.npy "$input's labels" train data.npy --method lda -o data.labels.npy
refused "a checkpoint over them" data.labels.npy "$input's labels" train data.npy --checkpoint data.labels.npy -o x.bdml
refused "those of the rows that vote" data.labels.npy "$input's labels" \
    predict m.bdml data.csv --train data.npy -o data.labels.npy
cp data.csv t-images-idx3-ubyte.csv # the name alone counts
cp data.csv t-labels-idx1-ubyte.csv
refused "labels of images" t-labels-idx1-ubyte.csv "$input's labels" \
    convert t-images-idx3-ubyte.csv t-labels-idx1-ubyte.csv
cp data.csv n.bdml.proof
refused "data where a proof would be" n.bdml.proof "$input" \
    train n.bdml.proof --hard --distortion 2 --trace 1e-7 -o n.bdml
refused "a checkpoint where a proof would be" data.csv "$two" \
    train data.csv --hard --distortion 2 --trace 1e-7 --checkpoint c.bdml.proof -o c.bdml
cp data.csv p.report.bdml
refused "data where the model of a page goes" p.report.bdml "$input" report p.report.bdml -o p.html -q
refused "results over that model" data.csv "$two" report data.csv -o p2.html --save p2.report.bdml -q
refused "results over the page" data.csv "$two" report data.csv -o p.html --save p.html -q
refused "a picture over the table" data.csv "$two" path data.csv -o both.svg --plot both.svg
ln -s both.svg link.svg
refused "by a link" data.csv "$two" path data.csv -o both.svg --plot link.svg
refused "a page over the picture" data.csv "$two" reproduce geometry -o both.svg --page both.svg --results ''
ln -s one.npy one.labels.npy
refused "labels over their points" data.csv "$two" convert data.csv one.npy
mkdir folder.labels.npy
refused "a folder where labels go" data.csv "folder.labels.npy: is a folder" convert data.csv folder.npy
"$bdml" export m.bdml -o data.npy -q >out 2>err
ok "a map has no labels beside it" [ $? -eq 0 ]

echo "cases: $passed passed, $failed failed"
[ $failed = 0 ]
