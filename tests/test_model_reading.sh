#!/bin/sh
# A model remembers how its data were read: predict, transform, certify and the like need no options for the file
# that it was trained on, and find the columns of other files by name.
set -u
bdml=$BDML_COMMAND
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
check() { # check "what" command...
    title=$1
    shift
    "$@" || { echo "FAILED: $title"; sed 's/^/    /' err | head -n 3; failed=$((failed + 1)); }
}
says() { grep -qF -- "$1" "$2"; }

# rows SEPARATOR DECIMAL: colour, two numbers, class
rows() {
    awk -v s="$1" -v p="$2" 'BEGIN { for (i = 0; i < 60; i++) {
        k = i % 3; a = sprintf("%.1f", 5 * k + (i * 7 % 11) / 10); b = sprintf("%.2f", (i * 13 % 17) / 10)
        sub(/\./, p, a); sub(/\./, p, b)
        print substr("redbluegreen", k == 0 ? 1 : k == 1 ? 4 : 8, k == 0 ? 3 : k == 1 ? 4 : 5) s a s b s "c" k } }'
}
fit="--distortion 10 --reference none --softness 5 --passes 1"

# everything that has to be said, once
{ echo "colour;u;kind;v"; rows ';' ',' | awk -F';' -v OFS=';' '{ print $1, $2, $4, $3 }'; } >odd.csv
check "train" "$bdml" train odd.csv --label kind --decimal , --encode onehot $fit -q -o odd.bdml 2>err
check "predict" "$bdml" predict odd.bdml odd.csv -o classes.csv >out 2>err
check "it knows the label" says "error      0.00 %" out
check "transform" "$bdml" transform odd.bdml odd.csv -o mapped.csv >out 2>err
check "certify" "$bdml" certify odd.bdml odd.csv >out 2>err
check "certified" says "confirmed" out
check "neighbors" "$bdml" neighbors odd.csv --model odd.bdml -k 1 -o near.csv >out 2>err
check "certificate" "$bdml" export odd.bdml odd.csv --certificate -o odd.cert >out 2>err

# other files: columns in another order, among others, without label; a point as decimal mark
{ echo "id,v,extra,u,colour"; rows , . | awk -F, -v OFS=, '{ print 900 + NR, $3, "text", $2, $1 }'; } >new.csv
check "by name" "$bdml" predict odd.bdml new.csv --decimal . -o again.csv >out 2>err
check "the same classes" cmp classes.csv again.csv
{ echo "v,u"; echo "1,2"; } >less.csv
"$bdml" predict odd.bdml less.csv --decimal . >out 2>err
check "what is lacking" says "less.csv: there is no column 'colour=blue'; the file has 2 columns" err
sed 's/colour/shade/' new.csv | cut -d, -f2- >renamed.csv
"$bdml" predict odd.bdml renamed.csv --decimal . >out 2>err
check "what is called otherwise" says "there is no column 'colour=blue'" err

# row 2 has a missing value: its answer is empty, the others stay in their places
"$bdml" predict odd.bdml new.csv --decimal . -o all.csv -q
sed '3s/,[^,]*$/,/' new.csv >holes.csv
check "drop" "$bdml" predict odd.bdml holes.csv --decimal . --missing drop -o part.csv >out 2>err
sed '3s/.*/""/' all.csv >wanted.csv # an empty line would be skipped by other readers
check "rows stay aligned" cmp part.csv wanted.csv
check "as JSON" "$bdml" predict odd.bdml holes.csv --decimal . --missing drop --json >out 2>err
check "null in its place" sh -c 'tr -d " \n" <out | grep -q "\"predictions\":\[\"c0\",null,\"c2\""'

# trained without the row: the same rows are left out again
sed '3s/,[^,]*$/,/' new.csv | awk -F, -v OFS=, 'NR == 1 { print $0, "class" } NR > 1 { print $0, "c" (NR - 2) % 3 }' >train.csv
check "train with drop" "$bdml" train train.csv --missing drop --columns u,v,colour --encode onehot $fit -q -o drop.bdml 2>err
check "certify with drop" "$bdml" certify drop.bdml train.csv >out 2>err
check "predict with drop" "$bdml" predict drop.bdml train.csv -o part.csv >out 2>err
check "empty answer" [ "$(sed -n 3p part.csv)" = '""' ]

# labels that came through a pipe: it is not waited for
rows , . | awk -F, -v OFS=, '{ print $2, $3 }' >plain.csv
rows , . | awk -F, '{ print $4 }' >labels.csv
mkfifo labels.pipe
cat labels.csv >labels.pipe &
check "labels through a pipe" "$bdml" train plain.csv --labels-file labels.pipe $fit -q -o pipe.bdml 2>err
timeout 20 "$bdml" certify pipe.bdml plain.csv >out 2>err
check "no pipe is waited for" [ $? = 2 ]
check "and why" says "labels.pipe: the model says that its labels stand here, and this is no file" err
check "labels where they are" "$bdml" certify pipe.bdml plain.csv --labels-file labels.csv >out 2>err

# labels from standard input, or from what is of the training process: neither
for name in - /dev/stdin /dev/fd/0; do
    check "labels from $name" "$bdml" train plain.csv --labels-file $name $fit -q -o stdin.bdml <labels.csv 2>err
    timeout 20 "$bdml" certify stdin.bdml plain.csv <>labels.pipe >out 2>err # an end that never comes
    check "$name is not waited for" [ $? = 2 ]
    check "and why" says "$name: the model says that its labels stand here, and this is no file" err
done
check "unless it is said now" "$bdml" certify stdin.bdml plain.csv --labels-file - <labels.csv >out 2>err
exit $failed
