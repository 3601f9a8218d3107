#!/bin/sh
# test_retrieve_cli.sh - retrieve as a user runs it: the table, the grid, its picture, and what is refused.
set -eu
. "$BDML_SOURCE/tests/shell_tools.sh"

# 8 classes at the corners of a cube, 12 rows each, beside one loud column.
awk 'BEGIN {
    s = 12345
    print "a,b,c,noise,class"
    for (i = 0; i < 96; i++) {
        line = ""
        for (j = 0; j < 4; j++) {
            s = (s * 16807) % 2147483647
            v = j < 3 ? int((i % 8) / 2 ^ j) % 2 : 0
            line = line v + (j < 3 ? 0.3 : 6) * (s / 2147483647 - 0.5) ","
        }
        print line "k" i % 8
    }
}' >cube.csv

"$bdml" retrieve cube.csv --methods whiten,lda --splits 3 >table 2>err
has table "3 splits: 32 rows of 4 classes to learn from; retrieval among 48 rows of 4 unseen classes,"
has table "^euclidean .* 1 "
has table "^whiten "
has table "^lda "
has table "the space as it is, on the same splits"

"$bdml" retrieve cube.csv --grid 1,4,100 --splits 3 --plot unseen.svg --json >run.json 2>err
has run.json '"ndcg_at_10"'
has run.json '"distortion": 100.0'
has run.json '"chosen_per_split"' # beside the grid
has unseen.svg "unseen classes"
has unseen.svg "mAP@R"
"$bdml" plot run.json --figure unseen -o again.svg >out
cmp unseen.svg again.svg || fail "plot draws another picture than retrieve --plot"

# Choices by classes left out: the loud column goes, and the model says by what evidence. With --task classify the
# recipe of classification chooses.
"$bdml" retrieve cube.csv --methods bdml --splits 3 --json >run.json 2>err
has run.json '"chosen_per_split"'
"$bdml" retrieve cube.csv --methods bdml --splits 3 >table 2>err
has table "^bdml chosen "
"$bdml" eval cube.csv --task retrieve --methods bdml --splits 3 >again 2>err
cut -c1-85 table >a; cut -c1-85 again >b # less the seconds
cmp a b || fail "eval --task retrieve is not retrieve"
"$bdml" retrieve cube.csv --methods bdml --task classify --splits 3 --json >rows.json 2>err
grep -q '"passes": 2' rows.json || grep -q fisher rows.json || grep -q '"reference": "within"' rows.json ||
    fail "--task classify chose what only task retrieve offers"
"$bdml" train cube.csv --task retrieve -o cube.bdml >out 2>err
has out "folds of the training classes, which made the choice"
has out "more are right among classes left out"
"$bdml" info cube.bdml >out
has out "^settings   task retrieve"
has out "^why        of 100 nearest rows"
"$bdml" certify cube.bdml cube.csv --level repeat >out || fail "the choice is not repeated"
sed -e 's/,[^,]*,k/,0,k/' cube.csv >quiet.csv # without the loud column there is nothing to gain
"$bdml" train quiet.csv --task retrieve -o quiet.bdml >out 2>err
has out "^why        kept as it is"
has out "distortion 1 of at most 1, relative to reference none"
has out "^           folds found no gain in doing so"
awk -F, 'NR == 1 || /k[012]$/' cube.csv >three.csv
"$bdml" train three.csv --task retrieve -o x.bdml >out 2>err && fail "three classes were enough to leave some out"
has err "at least 4 classes of two rows or more; the data have 3"
"$bdml" path cube.csv --task retrieve >out 2>err && fail "a path took task retrieve"
has err "task must be classify"

# Queries that look for documents: every row of the cube asks for two others of its corner, less the loud column's help.
awk -F, 'NR > 1 { print $1 "," $2 "," $3 "," $4 > (NR <= 41 ? "q.csv" : "docs.csv") }' cube.csv
awk 'BEGIN { for (q = 0; q < 40; q++) { print q "," q % 8 ",2"; print q "," q % 8 + 8 } }' >belongs.csv
set -- --queries q.csv --corpus docs.csv --relevant belongs.csv
"$bdml" retrieve "$@" --methods whiten,lda --grid 1,100 --splits 3 --plot queries.svg >table 2>err
has table "^q.csv: 40 queries, docs.csv: 56 documents, 4 features, 80 lines of what belongs together"
has table "3 splits: 28 queries to learn from (seen), 12 others to test by (unseen), both among all documents"
has table "nDCG@10"
has table "lda: method lda learns from classes"
has table "the nearest document belongs to the query"
has queries.svg "unseen queries"
"$bdml" retrieve "$@" --methods whiten --splits 3 --json >run.json 2>err
has run.json '"protocol": "queries"'
"$bdml" report run.json -o page.html >out
has page.html "<h2>Queries that were not trained on"
has page.html "nearest of 56 documents belongs to the query, over 3 splits, of 12 queries"
"$bdml" retrieve --queries q.csv --corpus docs.csv >out 2>err && fail "queries without answers were taken"
has err "queries, --corpus and --relevant go together"
"$bdml" retrieve cube.csv "$@" >out 2>err && fail "DATA and queries were taken"
has err "'cube.csv' is one argument too many"
"$bdml" retrieve >out 2>err && fail "nothing was taken for data"
has err "what to retrieve is missing"

# Rows kept from training, among those trained on.
"$bdml" retrieve cube.csv --unseen rows --methods lda --splits 3 --json >run.json 2>err
has run.json '"protocol": "rows"'
"$bdml" report run.json -o page.html >out
has page.html "<h2>Rows that were not trained on"
"$bdml" retrieve cube.csv --unseen rows --methods lda,bdml --splits 3 >table 2>err
has table "3 splits: 64 rows to learn from, which look for their class among each other (seen)"
"$bdml" eval cube.csv --task retrieve --unseen rows --methods lda,bdml --splits 3 >again 2>err
cut -c1-85 table >a; cut -c1-85 again >b # less the seconds
cmp a b || fail "eval --task retrieve --unseen rows is not retrieve"
"$bdml" retrieve cube.csv --unseen 0.4 >out 2>err && fail "--unseen took a number"
has err "unseen must be one of classes|rows"

# Groups: the columns in the table of retrieve, or a table of their own.
"$bdml" retrieve cube.csv --cluster --methods whiten --splits 3 >table 2>err
has table "unseen R@1 .* NMI  *ARI  *seen R@1"
has table "agreement of k-means"
"$bdml" eval cube.csv --task cluster --methods whiten,bdml --splits 3 >table 2>err
has table "unseen NMI  *diff  *se  *ARI  *R@1"
"$bdml" eval cube.csv --task cluster --methods whiten --splits 3 --json >run.json 2>err
"$bdml" report run.json -o page.html >out
has page.html "<th>NMI, unseen</th>"
"$bdml" eval cube.csv --task classify --methods whiten --splits 3 >table 2>err
has table "3-NN error over 3 random splits"
"$bdml" retrieve "$@" --cluster >out 2>err && fail "documents have no classes to compare groups with"
has err "leave out cluster"
"$bdml" train cube.csv --task cluster -o cluster.bdml >out 2>err
has out "folds of the training classes, which made the choice"
"$bdml" certify cluster.bdml cube.csv --level repeat >out || fail "the choice for task cluster is not repeated"

# The study over all sets: those that are there, here one under the name of another.
mkdir -p data/uci
cp cube.csv data/uci/segment.csv
BDML_DATA=$work/data "$bdml" reproduce unseen --quick --splits 3 --results kept --page page.md -o study.svg >out 2>err ||
    { cat err; fail "reproduce unseen"; }
has out "^| Segment "
has out "chosen less this one"
has out "^| seen classes "
has out "^| groups, unseen classes "
has out "Segment 96 x 4, 5 + 3, "
has out "not run: MNIST is not here: mnist/train-images-idx3-ubyte.gz in"
has page.md "settled on these sets but for Debian"
has study.svg "mean over the sets"
# what the cell says is what the command says
BDML_DATA=$work/data "$bdml" retrieve data/uci/segment.csv --scale zscore --unseen-share 0.4 --methods lda --splits 3 --json >run.json
lda=$(awk '/"method": "lda"/ { on = 1 } on && /"unseen"/ { u = 1 } u && /"mean"/ { print $2 + 0; exit }' run.json)
[ -n "$lda" ] || fail "no figure of lda in run.json"
grep -q -- "\"mean\": $lda" kept/unseen.json || fail "the study has other figures than retrieve ($lda)"

# The page of a result.
"$bdml" retrieve cube.csv --methods lda,bdml --grid 1,100 --splits 3 --json >run.json 2>err
"$bdml" report run.json -o page.html >out
has page.html "<h2>Classes that were not trained on"
has page.html "<td>bdml, K = 100</td>"
has page.html "<td>bdml, chosen</td>"
has page.html "among 4 classes that were not trained on"
has page.html "recall@1"

"$bdml" report cube.csv --task retrieve --splits 2 -o task.html >out 2>err
has task.html "<h2>Classes that were not trained on"
has task.html "<td>bdml, K = 100</td>"
has task.html "<td>bdml, chosen</td>"
"$bdml" info task.report.bdml >out
has out "folds of the training classes, which made the choice"

"$bdml" retrieve cube.csv --plot x.svg >out 2>err && fail "a plot without K was drawn"
has err "give the K with --grid"
"$bdml" retrieve cube.csv --unseen-share 0.9 --methods lda >out 2>err && fail "one class to learn from was taken"
has err "at least 2 are needed on either side"
[ ! -e x.svg ] || fail "x.svg was left behind"
echo passed
