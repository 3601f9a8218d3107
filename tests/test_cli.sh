#!/bin/sh
# The command as a user meets it: each subcommand on bundled data, each usage error with its message
# and exit code, --json, interruption, nothing half-written.
set -u
bdml=$BDML_COMMAND
source=$BDML_SOURCE
data=$source/data
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
if ! "$bdml" version >/dev/null; then
    echo "cases: 0 passed, 1 failed"
    exit 1
fi
passed=0
failed=0
TERM=dumb
export TERM

ok() { # ok "what" command...: the command must succeed
    title=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $title"
        sed 's/^/    stdout: /' out 2>/dev/null | head -n 5
        sed 's/^/    stderr: /' err 2>/dev/null | head -n 5
    fi
}

run() { # run arguments...: bdml with its streams in ./out and ./err, its status in $code
    "$bdml" "$@" >out 2>err </dev/null
    code=$?
}

# exits CODE "text on stderr" arguments...
exits() {
    want=$1
    text=$2
    shift 2
    run "$@"
    ok "bdml $*: exit $want, got $code" [ "$code" -eq "$want" ]
    ok "bdml $*: says '$text'" grep -qF -- "$text" err
    if [ "$want" -eq 2 ]; then
        ok "bdml $*: one line of error" [ "$(grep -c '^bdml: ' err)" -eq 1 ]
    fi
}

works() { # works arguments...
    run "$@"
    ok "bdml $*: exit 0, got $code" [ "$code" -eq 0 ]
}

if command -v python3 >/dev/null 2>&1; then
    valid() { python3 -m json.tool <"$1" >/dev/null; }
    # field FILE EXPRESSION: a Python expression over the object r
    field() { python3 -c "import json,sys; r=json.load(open('$1')); sys.exit(0 if ($2) else 1)"; }
else
    echo "skipped: JSON is not checked, there is no python3"
    valid() { :; }
    field() { :; }
fi

json() { # json "python condition on r" arguments...
    condition=$1
    shift
    works "$@" --json
    ok "bdml $* --json: one JSON object" valid out
    ok "bdml $* --json: $condition" field out "$condition"
}

# ---- help and generated texts
works
ok "no arguments: usage" grep -q '^usage: bdml COMMAND' out
ok "usage names every command" sh -c 'for c in train predict transform neighbors eval convert info export; do
    grep -q "^  $c " out || exit 1; done'
ok "usage stays under 80 columns" [ "$(awk 'length > 79' out | wc -l)" -eq 0 ]
works --help
works version
ok "version" grep -q '^bdml [0-9]*\.[0-9]*\.[0-9]*$' out
works --version
for command in train predict transform neighbors eval adapt path verify convert info certify bound compare-solvers reproduce \
    report plot export import generate help version completion man; do
    works help $command
    ok "help $command stays under 80 columns" [ "$(awk 'length > 79' out | wc -l)" -eq 0 ]
    cp out first
    works $command --help
    ok "$command --help is help $command" cmp -s out first
    works help $command --all
    ok "help $command --all stays under 80 columns" [ "$(awk 'length > 79' out | wc -l)" -eq 0 ]
    ok "$command takes --json, --quiet, --threads, --seed" sh -c 'for o in json quiet threads seed; do
        grep -q -- "--$o" out || exit 1; done'
done
json '"train" in [c["name"] for c in r["commands"]] and "scale" in [o["name"] for o in r["options"]]' help
json 'set(o["name"] for o in r["options"]) == set(n for c in r["commands"] for n in c["options"])' help
json 'r["version"].count(".") == 2' version
json '".SH COMMANDS" in r["text"]' man
works help train
ok "help train shows everyday options" [ "$(grep -c '^  .*--[a-z]' out)" -le 24 ]
ok "help explains its words" grep -q '^  impostor ' out
works help train --all
ok "help train --all shows them all" grep -q -- '--impostors-file' out
works help formats
ok "help formats stays under 80 columns" [ "$(awk 'length > 79' out | wc -l)" -eq 0 ]
works train "$data/iris.csv" --method LDA -o upper.bdml
ok "methods in any case" grep -q '^method     lda' out
"$bdml" completion bash >complete.bash
ok "completion of lists, figures, references" bash -c '. ./complete.bash; compopt() { :; }
    try() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _bdml; printf "%s " "${COMPREPLY[@]}"; }
    [ "$(try bdml eval x --methods lda,lm; try bdml plot x --figure sp; try bdml train x --reference zs)" = \
        "lda,lmnn spectrum zscore " ]'
ok "bootstrap --help" sh -c '"$0/bootstrap" --help | grep -q "bootstrap demo"' "$source"
"$bdml" eval "$data/segment.csv" --methods euclidean,whiten --splits 3 >out 2>err
ok "a warning is said once" [ "$(grep -c 'region_pixel_count' err)" -le 1 ]
works help methods
ok "help methods" grep -q euclidean out
works help settings --markdown
ok "docs/settings.md is up to date (bdml help settings --markdown >docs/settings.md)" \
    cmp -s out "$source/docs/settings.md"
works man
ok "man page has every option" sh -c '"$0" help --json | grep -o "\"name\": \"[a-z-]*\"" >/dev/null &&
    grep -q "test..fraction" out && grep -q "EXIT STATUS" out' "$bdml"
if command -v man >/dev/null 2>&1 && command -v groff >/dev/null 2>&1; then
    cp out page.1
    LC_ALL=C.UTF-8 man --warnings -E UTF-8 -l -Tutf8 -Z page.1 >/dev/null 2>warnings
    ok "man page without warnings: $(head -n 1 warnings)" [ ! -s warnings ]
else
    echo "skipped: man page is not linted, there is no man"
fi
for shell in bash zsh fish; do
    works completion $shell
    ok "completion $shell knows test-fraction" grep -q test-fraction out
    if command -v $shell >/dev/null 2>&1; then
        ok "completion $shell is valid" $shell -n out
    else
        echo "skipped: syntax of the $shell completion, there is no $shell"
    fi
done
if command -v bash >/dev/null 2>&1; then
    "$bdml" completion bash >script
    cat >complete.bash <<'END'
source ./script
COMP_WORDS=(bdml "$@"); COMP_CWORD=$#
_bdml
echo "${COMPREPLY[*]}"
END
    ok "bash completes commands" [ "$(bash complete.bash tra)" = "train transform" ]
    ok "bash completes options" [ "$(bash complete.bash eval x --test)" = "--test-fraction" ]
    ok "bash completes choices" [ "$(bash complete.bash eval x --scale z)" = "zscore" ]
    ok "bash completes methods" [ "$(bash complete.bash train x --method eu)" = "euclidean" ]
    ok "bash offers no options of others" [ -z "$(bash complete.bash train x --spl)" ]
fi

# ---- usage errors
exits 2 "there is no command 'frobnicate'" frobnicate
exits 2 "did you mean train?" trian
exits 2 "options come after the command" --quiet train x
exits 2 "train needs DATA; usage: bdml train DATA" train
exits 2 "predict needs MODEL" predict
exits 2 "predict needs DATA" predict m
exits 2 "convert needs OUT" convert a
exits 2 "OUT is named twice: 'b.csv' and -o 'c.csv'" convert a b.csv -o c.csv
exits 2 "train takes no 'b'" train a b
exits 2 "adapt takes no 'b'; usage: bdml adapt --source FILE --target FILE" adapt b
exits 2 "is a model of bdml, where data are wanted" train upper.bdml -o other.bdml

# ---- more votes than points
works train "$data/iris.csv" --method lda -k 1000 -o many.bdml
ok "train: more votes than points" grep -q "neighbors asks for 1000 votes of 150 points" err
works predict many.bdml "$data/iris.csv" -k 1000 -o many.csv
ok "predict: more votes than points" grep -q "all 150 points vote; neighbors asks for 1000" err

# ---- certify says why it does not confirm
works train "$data/iris.csv" --distortion 1 -o summary.bdml # lines of our own are broken, not shown as \x0a
ok "train: K = 1 is explained on lines of their own" sh -c "grep -q '^ *folds found no gain in doing so' out && ! grep -q x0a out"
works train "$data/iris.csv" --rule class --passes 2 --scale minmax -o again.bdml --quiet
exits 1 "the claim is not confirmed at level problem" certify again.bdml "$data/iris.csv" --level problem
ok "less evidence than asked is no refutation" grep -q "nothing speaks against the claim 'optimal'" out
sed '5s/[0-9]/9/' "$data/iris.csv" >altered.csv
exits 1 "the claim is not confirmed" certify again.bdml altered.csv
ok "other data are told first" grep -q "^refuted: not the data that the model was learned from" out
exits 2 "unknown option --sclae; did you mean --scale?" train a --sclae zscore
exits 2 "unknown option --kappa; here it is --distortion" train a --kappa 5
exits 2 "got 'zscor'; did you mean zscore?" train a --scale zscor
exits 2 "there is no method 'lnmm'; did you mean lmnn? the methods are: " train "$data/iris.csv" --method lnmm
exits 2 "no column is called 'prolin'; did you mean proline? there are: alcohol" train "$data/wine.csv" --label prolin
exits 2 "no column is called 'alkohol'; did you mean alcohol?" train "$data/wine.csv" --drop alkohol
exits 2 "there is no help on 'metods'; did you mean methods" help metods
exits 2 "there is no help on '--dorp'; did you mean drop" help --dorp
exits 2 "unknown option --xyzzy; 'bdml help train'" train a --xyzzy
exits 2 "unknown option --tes;" train a --tes 1
exits 2 "did you mean --test-fraction?" eval a --test 1
exits 2 "unknown option -x" train a -x
exits 2 "train does not take --splits, which belongs to: eval" train a --splits 3
exits 2 "train does not take --points, which belongs to: generate" train a -n 3
exits 2 "--output needs a value: --output FILE" train a -o
exits 2 "--output needs a value" train a --output --json
exits 2 "--scale must be one of none|zscore|minmax|unit|auto, got 'big'" train a --scale big
exits 2 "--scale must be one of" train a --scale=
exits 2 "--threads must be a whole number" train a --threads two
exits 2 "--test-fraction must be a number from 0 to 1" eval a --test-fraction 2
exits 2 "--neighbors must be a whole number of at least 1" neighbors a -k 0
exits 2 "--stratify must be yes or no" eval a --stratify=maybe
exits 2 "--scale is no switch" train a --no-scale
exits 2 "there is no method 'magic'; the methods are: bdml, euclidean" train a --method magic
exits 2 "there is no method 'magic'" eval a --methods euclidean,magic
exits 2 "--method or --methods, not both" eval a --method euclidean --methods whiten
exits 2 "there is no completion for 'tcsh'" completion tcsh
exits 2 "there is no help on 'nothing'" help nothing
works help --drop
ok "help of an option: what it does" grep -q -- '--drop LIST  *columns to leave out' out
ok "help of an option: where" grep -q '^taken by .*train.* eval' out
mv out with-dashes
works help drop
ok "help of an option: with dashes or without" cmp -s out with-dashes
works help distortion
ok "help of an option: its range" grep -q '^value  *number, 1 to 1000000000' out
ok "help of an option: its default" grep -q '^default  *auto' out
exits 2 "--markdown belongs to" help train --markdown
exits 2 "import needs -o FILE" import a
exits 2 "export needs -o FILE" export a
exits 2 "there is no set 'noise' to generate" generate noise
exits 2 "the ending says no format" convert a b.xyz
exits 2 "the ending says no format" transform m a -o b.xyz
exits 2 "written as .csv or .tsv" neighbors a -o b.npy
exits 2 "use .npy, .csv or .mat for the matrix" export m -o b.xyz
exits 2 "both want standard output" transform m a --json
exits 2 "both want standard output" generate waveform --json
exits 2 "do not go with --model" neighbors a --model m --scale zscore
exits 2 "cannot be written" train "$data/wine.csv" -o nowhere/m.bdml
exits 2 "is a folder" train "$data/wine.csv" -o "$work"
exits 2 "missing.csv" train missing.csv
exits 2 "missing.bdml" predict missing.bdml "$data/wine.csv"
exits 2 "missing.csv" info missing.csv
exits 2 "" train a --scale big --json
ok "--json: an error is JSON as well" valid out
ok "--json: the error is in it" field out '"--scale must be" in r["error"] and r["exit"] == 2'

# ---- train, predict, transform on two thirds and one third of Wine
head -n 1 "$data/wine.csv" >train.csv
head -n 1 "$data/wine.csv" >test.csv
awk 'NR > 1 && NR % 3 != 0' "$data/wine.csv" >>train.csv
awk 'NR > 1 && NR % 3 == 0' "$data/wine.csv" >>test.csv
rows=$(($(wc -l <test.csv) - 1))
works train train.csv --method whiten --scale zscore
ok "train: default name of the model" [ -s train.bdml ]
ok "train: a summary with the next command" grep -q 'bdml predict train.bdml' out
works train train.csv -o wine.bdml --method whiten --scale zscore --quiet
ok "train --quiet is silent" [ "$(cat out err | wc -c)" -eq 0 ]
json 'r["points"] == 119 and r["features"] == 13 and r["classes"] == 3 and r["kappa"] > 1' \
    train train.csv -o wine.bdml --scale=zscore --method whiten
works predict wine.bdml test.csv
ok "predict: heading and one class a row" [ "$(wc -l <out)" -eq $((rows + 1)) ]
ok "predict: heading" [ "$(head -n 1 out)" = class ]
ok "predict: only known classes" [ "$(tail -n +2 out | sort -u | tr '\n' ' ')" = "1 2 3 " ]
ok "predict: the report is on stderr" grep -q '^error ' err
cp out classes
# The same error, counted by hand from the two files.
tail -n +2 classes >classes.body
wrong=$(tail -n +2 test.csv | awk -F, '{ print $NF }' | paste -d' ' - classes.body | awk '$1 != $2' | wc -l)
ok "predict: the error is that of the classes written" grep -q "($wrong of $rows wrong)" err
json "r['points'] == $rows and r['wrong'] == $wrong and len(r['predictions']) == $rows" \
    predict wine.bdml test.csv
ok "predict --json: confusion adds up" field out \
    'sum(sum(c["predicted"]) for c in r["confusion"]) == r["labelled"]'
works predict wine.bdml test.csv -o classes.csv
ok "predict -o: same classes" cmp -s classes classes.csv
ok "predict -o: report on stdout" grep -q 'recall' out
works predict wine.bdml test.csv --train train.csv -o again.csv -q
ok "predict --train with the training data: same classes" cmp -s classes again.csv

# Classes that vote in another order than the model's: 10, 9, x as words, 9, 10 as numbers; and one that it does not know.
awk 'BEGIN { print "u,v,class"; for (i = 0; i < 30; i++) { k = i % 3
    print 9 * k + i / 30 "," i % 2 "," (k == 0 ? "9" : k == 1 ? "10" : "x") } }' >words.csv
grep -v 'x$' words.csv >numbers.csv
works train words.csv --method euclidean --scale none --keep-points no -o words.bdml -q
works predict words.bdml numbers.csv --train numbers.csv -o voted.csv -q
ok "predict --train with classes in another order" [ "$(cut -d, -f3 numbers.csv)" = "$(cat voted.csv)" ]
sed 's/10$/11/' numbers.csv >unknown.csv
exits 2 "of class '11', which the model does not know" predict words.bdml numbers.csv --train unknown.csv
cut -d, -f1-13 test.csv >unlabelled.csv
works predict wine.bdml unlabelled.csv
ok "predict without labels: same classes" cmp -s classes out
ok "predict without labels: no error reported" [ ! -s err ]
"$bdml" predict wine.bdml - <test.csv >out 2>err
ok "predict from standard input" cmp -s classes out
exits 2 "there is no column 'alcohol'; the file has 5 columns" predict wine.bdml "$data/iris.csv"
awk -F, -v OFS=, 'NR == 5 { $2 = "" } { print }' test.csv >hole.csv
exits 2 "line 5, column 2" predict wine.bdml hole.csv -o hole.out
ok "predict: nothing is written on error" [ ! -e hole.out ]
works predict wine.bdml hole.csv --missing drop -o hole.out
ok "predict --missing drop: an answer for every row" [ "$(wc -l <hole.out)" -eq "$((rows + 1))" ]
ok "predict --missing drop: an empty one" [ "$(sed -n 5p hole.out)" = '""' ]
sed 's/,3$/,new/' test.csv >newclass.csv
works predict wine.bdml newclass.csv -o x.csv
ok "predict: a class the model has never seen is an error with recall 0" grep -q '^new .* 0\.0' out

# Of very many classes there is no matrix; what is counted is the same. Classes that the model has not seen come after its own.
awk 'BEGIN { print "u,v,class"; for (i = 0; i < 2200; i++) print int(i / 2) * 3 + i % 2 "," i % 2 ",c" int(i / 2) }' >many.csv
works train many.csv --method euclidean --scale none -o many.bdml
sed 's/,c7$/,c8/; s/,c5$/,new/' many.csv | awk -F, -v OFS=, 'NR > 1 { $1 += 0.25 } { print }' >moved.csv
json 'r["confusion"] is None and r["wrong"] == 4 and r["labelled"] == 2200 and len(r["recall"]) == 1101 and
    r["recall"]["c8"] == 50 and r["recall"]["new"] == 0 and r["recall"]["c5"] is None and r["recall"]["c9"] == 100' \
    predict many.bdml moved.csv
works predict many.bdml moved.csv -o x.csv
ok "predict: recalls of many classes" grep -q '^c8 .* 50\.0$' out

works transform wine.bdml test.csv
ok "transform: heading" [ "$(head -n 1 out | cut -d, -f1,14)" = z1,class ]
ok "transform: one row a point" [ "$(wc -l <out)" -eq $((rows + 1)) ]
cp out mapped
for ending in csv tsv svmlight npy; do
    works transform wine.bdml test.csv -o mapped.$ending
    ok "transform: says what it did" grep -q "mapped $rows points from 13 to 13" out
    works convert mapped.$ending back-$ending.csv
done
ok "transform -o: as on standard output" cmp -s mapped mapped.csv
ok "transform: csv and tsv hold the same" cmp -s back-csv.csv back-tsv.csv
json "r['points'] == $rows and r['output'] == 'm.csv'" transform wine.bdml test.csv -o m.csv
# Distances under the model are Euclidean distances of mapped points.
works transform wine.bdml train.csv -o mapped-train.csv
works neighbors mapped-train.csv mapped.csv -k 2 -o a.csv
works neighbors train.csv test.csv --model wine.bdml -k 2 -o b.csv
ok "neighbors --model = neighbors of mapped points" [ "$(cut -d, -f1-3 a.csv)" = "$(cut -d, -f1-3 b.csv)" ]

# Class names that are no numbers, and a matrix of seven classes.
works train "$data/segment.csv" -o segment.bdml --method whiten --scale zscore --pca 5
ok "a constant column is told" grep -q '^bdml: warning: .*region_pixel_count' err
json 'any("region_pixel_count" in w for w in r["warnings"])' train "$data/segment.csv" -o s.bdml --method whiten \
    --scale zscore
works predict segment.bdml "$data/segment.csv" -o x.csv
ok "predict: the table stays under 80 columns" [ "$(awk 'length > 79' out | wc -l)" -eq 0 ]
ok "predict: a confusion matrix" grep -qE '^sky +330 +[0-9.]+ +0 +0 ' out
ok "predict: warns that the points vote for themselves" grep -q 'each point votes for itself' err
cp "$data/segment.csv" renamed.csv
works predict segment.bdml renamed.csv -o x.csv
ok "predict: knows the training rows under another name" grep -q 'renamed.csv: these are the rows that the model was trained on' err
sed '$d' renamed.csv >fewer.csv
works predict segment.bdml fewer.csv -o x.csv
ok "predict: says nothing of other rows" [ ! -s err ]
for ending in csv svmlight npy; do
    works transform segment.bdml "$data/segment.csv" -o s.$ending
    works neighbors s.$ending -k 1 --which same -o s-$ending.csv
done
ok "transform: the same points and classes in CSV and svmlight" cmp -s s-csv.csv s-svmlight.csv
ok "transform: the same points and classes in CSV and NPY" cmp -s s-csv.csv s-npy.csv
json 'r["classes"]["sky"] == 330' info s.svmlight

# ---- neighbors
works neighbors "$data/iris.csv" -k 2
ok "neighbors: heading" [ "$(head -n 1 out)" = row,rank,neighbor,distance ]
ok "neighbors: two a point" [ "$(wc -l <out)" -eq 301 ]
printf 'x,class\n0,a\n1,a\n3,b\n7,b\n' >line.csv
works neighbors line.csv -k 1
ok "neighbors: by hand" [ "$(tail -n +2 out | tr '\n' ' ')" = "0,1,1,1 1,1,0,1 2,1,1,4 3,1,2,16 " ]
works neighbors line.csv -k 1 --which other
ok "neighbors --which other: by hand" \
    [ "$(tail -n +2 out | tr '\n' ' ')" = "0,1,2,9 1,1,2,4 2,1,1,4 3,1,1,36 " ]
works neighbors line.csv -k 5 --which same
ok "neighbors: as many as there are" [ "$(wc -l <out)" -eq 5 ]
printf 'x,class\n2,b\n' >query.csv
works neighbors line.csv query.csv -k 1 --which same
ok "neighbors of a query: classes by name" [ "$(tail -n 1 out)" = "0,1,2,1" ]
json 'r["index"] == [[1], [0], [1], [2]] and r["distance"] == [[1.0], [1.0], [4.0], [16.0]]' \
    neighbors line.csv -k 1
printf 'x\n1\n2\n3\n' >plain.csv
exits 2 "--which needs labels" neighbors plain.csv --label none --which same
exits 2 "" neighbors line.csv "$data/iris.csv"

# ---- eval
works eval "$data/wine.csv" --methods euclidean,whiten --scale zscore --splits 5
ok "eval: a row a method" [ "$(grep -cE '^(euclidean|whiten) ' out)" -eq 2 ]
ok "eval stays under 80 columns" [ "$(awk 'length > 79' out | wc -l)" -eq 0 ]
json 'len(r["methods"]) == 1 and r["methods"][0]["method"] == "euclidean" and
    0 <= r["methods"][0]["error_mean"] < 15 and r["methods"][0]["error_std"] >= 0 and
    r["methods"][0]["kappa"] == 1 and r["methods"][0]["fit_seconds"] >= 0' \
    eval "$data/wine.csv" --method euclidean --scale zscore --splits 10
for threads in 1 2; do
    "$bdml" eval "$data/wine.csv" --methods euclidean,whiten --scale zscore --json --threads $threads |
        grep -v seconds >threads-$threads
done
ok "eval: the same bytes with 1 and 2 threads" cmp -s threads-1 threads-2
for jobs in 1 2; do
    "$bdml" eval "$data/iris.csv" --methods all --scale auto --distortion 3 --splits 2 --jobs $jobs --json -q |
        grep -v fit_seconds >jobs-$jobs
done
ok "eval: the same bytes with 1 and 2 jobs" cmp -s jobs-1 jobs-2
ok "eval: all methods" [ "$(grep -c '"method": "\(bdml\|euclidean\|whiten\)"' jobs-1)" -ge 3 ]
works eval "$data/iris.csv" --methods euclidean,bdml --hard --splits 2
ok "eval: a method that refuses says why" grep -q '^split 1, method bdml: ' out
works eval "$data/iris.csv" --method euclidean --folds 5 --stratify
works eval "$data/iris.csv" --method euclidean --folds 5 --no-stratify -k5

# ---- forms of options
works eval "$data/iris.csv" --method euclidean --splits 2 -qk5 -j 1
ok "-qk5: quiet, five neighbours" [ "$(wc -l <out)" -eq 2 ]
works neighbors --neighbors=1 -o ./k.csv -- line.csv
cp line.csv ./-line.csv
works neighbors -qk1 -ok2.csv -- -line.csv
ok "-- ends the options, values may be glued" cmp -s k.csv k2.csv
works eval "$data/iris.csv" --method euclidean --splits 2 --scale none --scale zscore --json
ok "the last value counts" field out 'r["scale"] == "zscore"'
printf 'x,class\n1,caf\351\n2,b\n1.5,caf\351\n2.5,b\n' >latin.csv
json 'r["classes"]["caf?"] == 2' info latin.csv

# ---- path
works path "$data/iris.csv" --grid 1,10,100 --splits 2 -o path.csv --plot path.svg
ok "path: a row a distortion" [ "$(grep -cE '^ *(1|10|100)  +[0-9]\.[0-9]{2}  ' out)" -eq 3 ]
ok "path: says the shape" grep -q "^The shape: the test error" out
ok "path: one K is chosen" [ "$(grep -c '\*$' out)" -eq 1 ]
ok "path stays under 80 columns" [ "$(awk 'length > 79' out | wc -l)" -eq 0 ]
ok "path: the table as CSV" [ "$(wc -l <path.csv)" -eq 4 ]
ok "path: the plot" grep -q "<svg" path.svg
works path "$data/iris.csv" --grid 1,10 --splits 2 --json
ok "path: a list in JSON" grep -q '"path": \[' out
PATH=/nonexistent "$bdml" path "$data/iris.csv" --grid 1,10 --splits 2 --plot none.png >out 2>err
ok "path: a picture missing is no failure" [ $? -eq 0 ]
ok "path: without a converter the table is there" grep -q "ln kappa" out
ok "path: without a converter the package is named" grep -q "librsvg2-bin" err
ok "path: without a converter there is no file" [ ! -e none.png ]
exits 2 "at least 1" path "$data/iris.csv" --grid 0.5,1
exits 2 "must ascend" path "$data/iris.csv" --grid 3,1
exits 2 "grid is empty" path "$data/iris.csv" --grid ""
exits 2 "must be finite" path "$data/iris.csv" --grid 1,nan
exits 2 "softness must be a number from 0 to 1e+20, got '1e100'" train "$data/wine.csv" --softness 1e100 --rule class
exits 2 ".svg, .png or .pdf" path "$data/iris.csv" --plot path.gif

# ---- convert, info, export, import, generate
works convert "$data/iris.csv" iris.tsv
works convert iris.tsv iris.csv
works convert "$data/iris.csv" direct.csv
ok "convert: there and back" cmp -s iris.csv direct.csv
works convert "$data/iris.csv" -o named.csv
ok "convert -o: the same file" cmp -s named.csv direct.csv
works convert "$data/wine.csv" wine.svmlight
works convert "$data/wine.csv" wine.npy
works convert "$data/iris.csv" -
ok "convert to standard output" cmp -s out direct.csv
cp iris.csv same.csv
exits 2 "would overwrite the input" convert same.csv ./same.csv
ln -s same.csv link.csv
exits 2 "would overwrite the input" convert same.csv link.csv
exits 2 "would overwrite the input" predict wine.bdml same.csv -o same.csv
exits 2 "would overwrite the input" predict wine.bdml test.csv --train train.csv -o train.csv
ok "the input is untouched" cmp -s same.csv iris.csv

json 'r["points"] == 150 and r["features"] == 4 and r["classes"]["Iris-setosa"] == 50 and
    r["duplicate_rows"] == 3 and r["missing_values"] == 0' info "$data/iris.csv"
works info "$data/segment.csv"
ok "info: constant columns are named" grep -q 'constant .*region_pixel_count' out
printf 'a,b,class\n1,5,x\n1,5,y\n?,5,x\n2,5,x\n' >odd.csv
json 'r["constant_columns"] == ["b"] and r["missing_values"] == 1 and r["incomplete_rows"] == 1 and
    r["duplicate_rows"] == 1 and r["contradicting_rows"] == 2' info odd.csv
# What cannot be read through is not counted; no heading without rows; labels from a file of their own.
printf 'a,colour,class\n1,red,x\n2,blue,y\n' >words.csv
works info words.csv
ok "info: points are not counted" grep -q '^points  *not counted' out
ok "info: missing values are not counted" grep -q '^missing  *not counted' out
works convert "$data/iris.csv" emb.npy
works info emb.npy
ok "info: no empty table" sh -c '! grep -q "looks like" out'
awk -F, 'NR > 1 { print $5 }' "$data/iris.csv" >lab.txt
works info emb.npy --labels-file lab.txt
ok "info: where the labels are from" grep -q '^label .*from lab.txt.*: 3 classes' out

works info wine.bdml
ok "info of a model is one screen" [ "$(wc -l <out)" -le 40 ]
ok "info: features that matter, by name" grep -q '^  [a-z_]* .* %  #' out
ok "info of a model stays under 80 columns" [ "$(awk 'length > 79' out | wc -l)" -eq 0 ]
works info wine.bdml --all
ok "info: spectrum of a model" grep -q '^largest' out
ok "info of a model stays under 80 columns" [ "$(awk 'length > 79' out | wc -l)" -eq 0 ]
json 'r["type"] == "model" and len(r["spectrum"]["eigenvalues"]) == 13 and
    abs(r["spectrum"]["largest"] / r["spectrum"]["smallest"] / r["kappa"] - 1) < 1e-9 and
    0.9 * sum(r["spectrum"]["eigenvalues"]) <=
        sum(r["spectrum"]["eigenvalues"][:r["spectrum"]["holds_90_percent"]]) and
    r["spectrum"]["holds_90_percent"] <= 13' info wine.bdml

for what in L M; do
    for ending in npy csv mat; do
        works export wine.bdml --what $what -o $what.$ending
    done
done
for format in faiss onnx safetensors npy mat csv; do
    works export wine.bdml --format $format
    works export wine.bdml -o by-ending.$format
    ok "export --format $format: what the ending gives" cmp wine.$format by-ending.$format
    rm wine.$format by-ending.$format
done
exits 2 "a file of --format onnx ends in .onnx; leave -o out and it is wine.onnx" \
    export wine.bdml --format onnx -o wine.faiss
exits 2 "--certificate takes no --format" export wine.bdml wine.csv --certificate --format npy -o c
exits 2 "--format must be one of auto|faiss|onnx" export wine.bdml --format arff
works import L.csv --format csv -o L.bdml --header no
works import M.npy -o M.bdml --what M
"$bdml" info wine.bdml --json >one
for what in L M; do
    "$bdml" info $what.bdml --json >two
    ok "import of $what: the same kappa" field two \
        'abs(json.load(open("one"))["kappa"] / r["kappa"] - 1) < 1e-8'
done
exits 2 "--train" predict L.bdml test.csv
works predict L.bdml test.csv --train train.csv -q
ok "an imported model predicts with --train" [ "$(wc -l <out)" -eq $((rows + 1)) ]
exits 2 "" import "$data/iris.csv" -o bad.bdml --what M
ok "import: nothing is written on error" [ ! -e bad.bdml ]

works generate waveform -n 300 -o wave.csv
ok "generate: rows" [ "$(wc -l <wave.csv)" -eq 301 ]
works generate waveform -n 300 -o wave2.csv --threads 2
ok "generate: same seed, same bytes" cmp -s wave.csv wave2.csv
works generate waveform -n 300 -o wave3.csv --seed 1
ok "generate: another seed, other bytes" sh -c '! cmp -s wave.csv wave3.csv'
json 'r["points"] == 300 and r["features"] == 21 and len(r["classes"]) == 3' info wave.csv

# ---- failures leave nothing behind
printf 'a,class\n1,x\n2,x\n' >one.csv
printf '1,2,x\n1,x\n' >ragged.csv
exits 2 "ragged.csv" train ragged.csv -o ragged.bdml
ok "no model after an error" [ ! -e ragged.bdml ]
ok "--json and an error in the data" sh -c '"$0" train ragged.csv --json >out 2>err; [ $? -eq 2 ]' "$bdml"
ok "--json and an error in the data: JSON" valid out
cp wine.bdml damaged.bdml
printf 'x' | dd of=damaged.bdml bs=1 seek=200 conv=notrunc 2>/dev/null
exits 2 "damaged.bdml" predict damaged.bdml test.csv
head -c 100 wine.bdml >short.bdml
exits 2 "short.bdml" info short.bdml
if [ -w /dev/full ]; then
    "$bdml" predict wine.bdml test.csv >/dev/full 2>err
    ok "a full disk is exit 1" [ $? -eq 1 ]
    ok "a full disk is said" grep -q 'No space left' err
    "$bdml" info wine.bdml >/dev/full 2>err
    ok "a full disk is exit 1 for reports" [ $? -eq 1 ]
fi
ok "no temporary files are left" [ -z "$(find . -name '*.tmp*')" ]

# ---- Ctrl-C
"$bdml" generate waveform -n 3000 -o long.csv -q
interrupt() { # interrupt SECONDS arguments...: SIGINT after that time; status in $code
    pause=$1
    shift
    # A shell starts background jobs with SIGINT ignored; env or python would undo that. A program that
    # installs its own handler is not affected.
    "$bdml" "$@" >out 2>err &
    pid=$!
    sleep "$pause"
    kill -INT $pid
    wait $pid
    code=$?
}
interrupt 0.7 eval long.csv --method whiten --splits 100000
ok "interrupted eval: exit 1, got $code" [ "$code" -eq 1 ]
ok "interrupted eval: says so" grep -q '^bdml: interrupted' err
interrupt 3 eval long.csv --method whiten --splits 100000
ok "progress in plain lines" grep -qE '^bdml: .* %' err
ok "few lines of progress" [ "$(grep -c '%' err)" -le 3 ]
mkfifo pipe
exec 3<>pipe # a writer that says nothing
interrupt 0.5 train pipe -o never.bdml
exec 3>&-
ok "interrupted while waiting for input: exit 1, got $code" [ "$code" -eq 1 ]
ok "interrupted train: says what was kept" grep -q 'no model was written' err
ok "interrupted train: no model" [ ! -e never.bdml ]

# ---- checkpoints
for pause in 0.3 0.25 0.2 0.15 0.1 0.07; do # while it cross-validates, on a machine of any speed
    rm -f cut.ckpt cut.bdml                  # of a run that came to its end before
    interrupt $pause train "$data/segment.csv" -o cut.bdml --checkpoint cut.ckpt --threads 1
    [ "$code" -eq 1 ] && [ -e cut.ckpt ] && break
done
ok "interrupted train with a checkpoint: exit 1, got $code" [ "$code" -eq 1 ]
if [ -e cut.ckpt ]; then # unless the machine was too slow for the first job
    ok "interrupted train: names the checkpoint" grep -q 'go on with --resume cut.ckpt' err
fi
"$bdml" train "$data/wine.csv" -o whole.bdml --hard --kind pair --scale zscore --json >whole.json 2>err
"$bdml" train "$data/wine.csv" -o part.bdml --hard --kind pair --scale zscore --max-iter 25 --checkpoint part.ckpt \
    >out 2>err
ok "stopped train: a checkpoint" [ -s part.ckpt ]
"$bdml" train "$data/wine.csv" -o part.bdml --hard --kind pair --scale zscore --resume part.ckpt --json \
    >part.json 2>err
ok "resumed train: exit 0" [ $? -eq 0 ]
for key in upper lower gap kappa iterations; do
    ok "resumed train: the same $key" \
        [ "$(grep "\"$key\"" whole.json)" = "$(grep "\"$key\"" part.json)" ]
done
"$bdml" train "$data/wine.csv" -o part.bdml --hard --kind pair --scale zscore --distortion 30 --resume part.ckpt \
    >out 2>err
ok "resume with another distortion: exit 2" [ $? -eq 2 ]
ok "resume with another distortion: says so" grep -q 'its distortion is not set, now it is 30' err
"$bdml" train "$data/wine.csv" -o same.bdml --checkpoint same.bdml >out 2>err
ok "checkpoint on the model: exit 2" [ $? -eq 2 ]

# ---- starting from a model
head -n 160 "$data/wine.csv" >fewer.csv
"$bdml" train fewer.csv -o fewer.bdml --scale zscore -q
"$bdml" train "$data/wine.csv" --warm fewer.bdml -o more.bdml >out 2>err
ok "warm: exit 0" [ $? -eq 0 ]
ok "warm: scale and choice are taken over" [ "$(grep -c 'scale zscore\|^taken over' out)" = 2 ]
"$bdml" certify more.bdml "$data/wine.csv" --level repeat >out 2>err
ok "warm: certified by training again" [ $? -eq 0 ]
"$bdml" train "$data/wine.csv" --warm fewer.bdml -o fewer.bdml >out 2>err
ok "warm: its model is not overwritten" [ $? -eq 2 ]
"$bdml" train "$data/segment.csv" --warm fewer.bdml -o never.bdml >out 2>err
ok "warm: a model of other columns, exit 2" [ $? -eq 2 ]
ok "warm: says which" grep -q 'the model is of 13 features, the data have 19' err

# ---- a terminal gets colour and a bar; NO_COLOR and pipes do not
if script -qec true /dev/null </dev/null >/dev/null 2>&1; then
    TERM=xterm script -qec "'$bdml' eval long.csv --method whiten --splits 400" /dev/null </dev/null >tty 2>&1
    ok "a bar on a terminal" grep -q '\[#' tty
    ok "colour on a terminal" grep -q "$(printf '\033')\[1m" tty
    NO_COLOR=1 TERM=xterm script -qec "'$bdml' eval '$data/iris.csv' --method whiten --splits 2" /dev/null </dev/null \
        >tty 2>&1
    ok "NO_COLOR" sh -c '! grep -q "$(printf "\033")\[1m" tty'
else
    echo "skipped: colour and bar, no terminal can be made (script from bsdutils, /dev/pts)"
fi

echo "cases: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
