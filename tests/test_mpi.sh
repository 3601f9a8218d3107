#!/bin/sh
# bdml-mpi on one machine, ranks by turns on its processors: the model of `bdml train`, bit by bit, or to 1e-10 where its solve is split
# over ranks, and then the same bits each time; a certificate that plain `bdml certify` confirms, failures that name their rank. Skipped with a word without MPI.
set -eu
. "$BDML_SOURCE/tests/shell_tools.sh"
mpi=${BDML_MPI_COMMAND:-$BDML_BUILD/mpi/bdml-mpi}
if [ ! -x "$mpi" ] || ! command -v mpirun >/dev/null 2>&1; then
    echo "skipped: there is no bdml-mpi or no mpirun (Debian: libopenmpi-dev, openmpi-bin)"
    exit 0
fi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 # containers run tests as root
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_hwloc_base_binding_policy=none
export OMPI_MCA_plm_rsh_agent= OMPI_MCA_btl_base_warn_component_unused=0
ranks() { # COUNT ARGUMENTS...: of bdml-mpi; a hang is a failure
    count=$1
    shift
    timeout -k 5 "${LIMIT:-300}" mpirun -n "$count" "$mpi" "$@"
}
segment=$BDML_SOURCE/data/segment.csv wine=$BDML_SOURCE/data/wine.csv

# ---- sums and maxima ---------------------------------------------------------------------------------

calls=$BDML_BUILD/tests/mpi_calls # of the build, as bdml-mpi mostly is
if [ -x "$calls" ]; then
    for p in 2 3 5; do
        timeout -k 5 60 mpirun -n $p "$calls" >said || { cat said; fail "sums and maxima of $p ranks"; }
    done
    echo "ok: sums and maxima"
fi

# ---- models ------------------------------------------------------------------------------------------

# Largest difference of two matrices over the largest entry, and of both ends of the bracket.
same() { # ONE TWO: models
    for m in "$1" "$2"; do "$bdml" export "$m" --what M -o "$m.csv" -q; done
    paste -d, "$1.csv" "$2.csv" | awk -F, '
        { n = NF / 2
          for (i = 1; i <= n; i++) {
              d = $i - $(i + n); a = $i
              if (d < 0) d = -d
              if (a < 0) a = -a
              if (a > most) most = a
              if (d > far) far = d } }
        END { if (!(most > 0 && far <= 1e-10 * most)) { print "metrics differ by", far, "of", most; exit 1 } }' ||
        fail "$1 and $2"
    for m in "$1" "$2"; do
        "$bdml" info "$m" --json | tr ',' '\n' | sed -n 's/[{} ]//g; /"lower":\|"upper":/p' | sort -u >"$m.ends"
        [ -s "$m.ends" ] || fail "no bracket in $m"
    done
    paste -d: "$1.ends" "$2.ends" | awk -F: '
        { d = $2 - $4; if (d < 0) d = -d; if ($1 != $3 || d > 1e-10 * $2) { print; exit 1 } }' ||
        fail "the brackets of $1 and $2"
}

# What a model says of itself, but for times and how it was asked.
says() { # MODEL
    "$bdml" info "$1" --json | sed '/"command_line":\|"file":\|"fit":\|"solve":/d' >"$1.says"
    [ "$(wc -l <"$1.says")" -gt 50 ] || fail "$1 says nothing"
}

# The same bits of all that two models say, constraints, multipliers and metric in exact numbers; what is left is a clock's.
same_bits() { # ONE TWO DATA OPTIONS...
    one=$1 two=$2
    shift 2
    for m in "$one" "$two"; do
        says "$m"
        "$bdml" export "$m" -o "$m.npy" -q
        "$bdml" export "$m" "$@" --certificate -o "$m.cert" -q
    done
    diff "$one.says" "$two.says" >&2 || fail "$one and $two say different things"
    cmp "$one.npy" "$two.npy" || fail "$one and $two differ in a bit"
    cmp "$one.cert" "$two.cert" || fail "the certificates of $one and $two differ"
}

# One problem in one process and over 1 to 4 ranks; SPLIT: its steps are long enough for ranks to share them (src/solver/setup.c).
compare() { # NAME DATA OPTIONS...
    name=$1 data=$2
    shift 2
    "$bdml" train "$data" -o "$name.bdml" -q "$@"
    for p in ${RANKS:-1 2 3 4}; do
        ranks "$p" train "$data" -o "$name-$p.bdml" -q "$@"
        if [ "${SPLIT:-no}" = no ]; then
            same_bits "$name.bdml" "$name-$p.bdml" "$data" ${READ:-}
        else
            same "$name.bdml" "$name-$p.bdml"
        fi
    done
    if [ "${SPLIT:-no}" != no ]; then
        ranks 3 train "$data" -o "$name-again.bdml" -q "$@"
        same_bits "$name-3.bdml" "$name-again.bdml" "$data" ${READ:-}
    fi
    [ "${CERTIFY:-yes}" = no ] || "$bdml" certify "$name-3.bdml" "$data" >certified ||
        fail "$name: not confirmed"
    echo "ok: $name over ranks is $name in one process"
}

compare stated "$wine" --scale zscore --distortion 10 --kind triplet --targets 3 --impostors 5 --reference none
compare recipe "$wine"
# Rows from where a rank's part of the file begins, or kept on the way over all of it; values that are not there.
"$bdml" convert "$segment" parts.npy -q
READ="--labels-file parts.labels.npy" CERTIFY=no compare parts parts.npy --labels-file parts.labels.npy --reference within --distortion 10
RANKS="2 3" READ="--labels-file parts.labels.npy" CERTIFY=no compare near parts.npy --labels-file parts.labels.npy --reference local --distortion 3
awk -F, 'NR == 900 { $3 = "" } { OFS = ","; $1 = $1; print }' "$segment" >holes.csv
RANKS=3 CERTIFY=no READ="--missing mean" compare holes holes.csv --missing mean --reference zscore --distortion 10
RANKS=3 CERTIFY=no READ="--missing drop" compare dropped holes.csv --missing drop --reference none --distortion 10 --kind triplet
RANKS="2 3" compare segment "$segment" --scale zscore --distortion 20
RANKS="2 4" CERTIFY=no compare recipe-segment "$segment"
RANKS="2 3" compare principal "$segment" --scale zscore --pca 8 --distortion 10
# Columns that depend on each other to the digits of the file: directions that the points hardly have turn with the last bit of a sum.
for passes in 1 3; do
    CERTIFY=no compare "turning-$passes" "$segment" --scale zscore --reference fisher-5 --distortion 10 --softness 20 --passes "$passes"
done
# A hard problem of pairs, stiff enough for Newton's rounds; every sixth pair is of one class.
awk 'BEGIN { srand(7); for (k = 0; k < 300; k++) { i = int(rand() * 178); j = int(rand() * 178)
             if (i != j) printf "%d,%d,%d\n", i, j, ((i < 59) + (i < 130)) == ((j < 59) + (j < 130)) } }' >pairs.csv
compare pairs "$wine" --scale zscore --pairs-file pairs.csv --hard --distortion 1000 --gap 1e-7
# A solve that is split: 1500 rows of 150 columns in three classes.
awk 'BEGIN { srand(11); for (i = 0; i < 1500; i++) {
         for (j = 0; j < 150; j++) printf "%.6g,", rand() + rand() - 1 + (j % 7 == i % 3) * 0.4
         print "c" i % 3 } }' >wide.csv
RANKS="2 3" SPLIT=yes CERTIFY=no compare wide wide.csv --rule class --kind triplet --targets 2 --impostors 3 --reference none --distortion 10
# 20,000 digits, where they are: the first of the training set as IDX files of their own (20,000 = 0x4e20).
mnist=$BDML_SOURCE/../shared/data/mnist/train
if [ -r "$mnist-images-idx3-ubyte.gz" ]; then
    { printf '\000\000\010\003\000\000\116\040\000\000\000\034\000\000\000\034'
      gzip -dc "$mnist-images-idx3-ubyte.gz" | tail -c +17 | head -c 15680000; } >digits-images
    { printf '\000\000\010\001\000\000\116\040'
      gzip -dc "$mnist-labels-idx1-ubyte.gz" | tail -c +9 | head -c 20000; } >digits-labels
    # its certificate takes longer to check than all of this test
    READ="--labels-file digits-labels" RANKS=3 SPLIT=yes CERTIFY=no compare mnist digits-images --labels-file digits-labels --pca 60 --keep-points no
else
    echo "skipped: MNIST is not there"
fi

# ---- evaluation ----------------------------------------------------------------------------------------

# The result but for what a clock says and how the command was called: every error, choice and confusion.
figures() { # FILE
    tr -d ' \n' <"$1" | sed 's/"fit_seconds":[^,}]*//g; s/"seconds":[^,}]*//g; s/"command":[^]]*]//; s/"threads":[^,}]*//g'
}
methods="--methods bdml,euclidean,lda --splits 5 --scale zscore -q"
"$bdml" eval "$wine" $methods --json >eval.json
for p in 2 3; do
    ranks $p eval "$wine" $methods --json >eval-$p.json
    [ "$(figures eval.json)" = "$(figures eval-$p.json)" ] || { diff eval.json eval-$p.json >&2; fail "eval over $p ranks"; }
done
has eval-3.json chosen_per_split
# A method that refuses says why, from whatever rank: margins that no metric of so small a cap meets.
refused="--methods euclidean,bdml --splits 3 --hard --distortion 1.5 --kind triplet"
"$bdml" eval "$wine" $refused --json -q >refused.json
ranks 3 eval "$wine" $refused --json -q >refused-3.json
has refused-3.json "split 1, method bdml: .*infeasible"
[ "$(figures refused.json)" = "$(figures refused-3.json)" ] || { diff refused.json refused-3.json >&2; fail "refusals"; }
echo "ok: eval over ranks is eval in one process"

# ---- failures ----------------------------------------------------------------------------------------

# What all ranks find wrong is said once, with the code of bdml.
code=0
ranks 3 train nowhere.csv 2>said || code=$?
[ "$code" != 0 ] && [ "$(grep -c 'nowhere.csv' said)" = 1 ] || { cat said >&2; fail "a missing file"; }
code=0
ranks 2 info stated.bdml 2>said || code=$?
[ "$code" != 0 ] || fail "info over ranks"
has said "bdml-mpi runs train and eval over ranks; for 'info' use bdml"
code=0
ranks 2 train - <"$wine" 2>said || code=$?
[ "$code" != 0 ] || fail "standard input over ranks"
has said "standard input reaches rank 0 alone"

# What one rank alone finds wrong ends the job with its name, and no rank waits for ever: here rank 1 has no data. Ranks that read
# their parts agree on it, others are ended.
cat >one_fails.sh <<END
#!/bin/sh
[ "\$OMPI_COMM_WORLD_RANK" != 1 ] || exec "$mpi" \$1 nowhere.csv \$2
exec "$mpi" \$1 "$segment" \$2 -q
END
chmod +x one_fails.sh
for call in "train -ofailed.bdml" "eval --splits=3"; do
    code=0
    timeout -k 5 60 mpirun -n 3 ./one_fails.sh $call 2>said >out || code=$?
    [ "$code" != 0 ] && [ "$code" != 124 ] && [ "$code" != 137 ] || { cat said >&2; fail "a failing rank: code $code"; }
    has said "rank 1 of 3: .*nowhere.csv"
done
has said "the other ranks are ended"
[ ! -e failed.bdml ] || fail "a failed job wrote a model"

# A value that is not there, in the part of rank 2: its sentence, once, and no rank waits.
cp parts.npy late.npy
head=$(($(wc -c <late.npy) - 2310 * 19 * 8)) # what stands before the numbers
printf '\000\000\000\000\000\000\370\177' | # NaN
    dd of=late.npy bs=1 seek=$((head + (2198 * 19 + 2) * 8)) conv=notrunc 2>/dev/null
code=0
LIMIT=60 ranks 3 train late.npy --labels-file parts.labels.npy -o failed.bdml -q 2>said || code=$?
[ "$code" != 0 ] && [ "$code" != 124 ] || { cat said >&2; fail "a hole in one part: code $code"; }
[ "$(grep -c 'rank 2 of 3: late.npy: row 2199, column 3: a value is missing' said)" = 1 ] || { cat said >&2; fail "a hole in one part"; }

# A rank that is killed ends the job.
cat >one_dies.sh <<END
#!/bin/sh
[ "\$OMPI_COMM_WORLD_RANK" != 2 ] || { (sleep 1; kill -9 \$\$) & }
exec "$mpi" eval "$segment" --methods bdml --splits 500 -q >/dev/null
END
chmod +x one_dies.sh
code=0
begun=$(date +%s)
timeout -k 5 60 mpirun -n 3 ./one_dies.sh 2>said || code=$? # 137 is what mpirun itself makes of signal 9
[ "$code" != 0 ] && [ "$(($(date +%s) - begun))" -lt 60 ] || { cat said >&2; fail "a killed rank: code $code"; }
has said "rank 2 .*signal 9"

# A rank on which memory is short: before MPI, which would wait for ever, and before OpenBLAS, which would ask for ever. With as much
# as the sentence says it learns.
if (ulimit -v 2000000 && exec "$mpi" version) >/dev/null 2>&1; then # sanitizers take more address space than that
    cat >one_is_short.sh <<END
#!/bin/sh
[ "\$OMPI_COMM_WORLD_RANK" != 1 ] || ulimit -v \$1
exec "$mpi" train "$wine" --distortion 10 --softness 10 --reference none -o short.bdml -q
END
    chmod +x one_is_short.sh
    for kib in 150000 250000 330000 350000 380000; do
        code=0
        timeout -k 5 60 mpirun -n 2 ./one_is_short.sh $kib 2>said >out || code=$?
        [ "$code" != 124 ] && [ "$code" != 137 ] || { cat said >&2; fail "a rank of $kib KiB: code $code"; }
        [ "$code" = 0 ] || grep -q "bdml-mpi: rank 1[ :].*out of memory" said || { cat said >&2; fail "a rank of $kib KiB"; }
        [ $kib != 150000 ] || cp said least
    done
    enough=$(sed -n 's/.*needs about \([0-9]*\)$/\1/p' least | head -n 1)
    [ -n "$enough" ] || { cat least >&2; fail "a rank without room for MPI does not say what it needs"; }
    timeout -k 5 60 mpirun -n 2 ./one_is_short.sh $((enough * 1024)) 2>said >out || { cat said >&2; fail "$enough MiB are not enough"; }
fi
echo "ok: failures name their rank"

# ---- going on with another number of ranks -------------------------------------------------------------

hard="--scale zscore --pairs-file pairs.csv --hard --distortion 1000 --gap 1e-7"
"$bdml" train "$wine" -o whole.bdml -q $hard
ranks 3 train "$wine" -o cut.bdml -q $hard --max-iter 40 --checkpoint half.bdml --every 0
for p in 1 2 4; do
    ranks "$p" train "$wine" -o on-$p.bdml -q $hard --resume half.bdml
    same whole.bdml on-$p.bdml
done
"$bdml" train "$wine" -o on.bdml -q $hard --resume half.bdml
same whole.bdml on.bdml
echo "ok: a checkpoint of 3 ranks goes on with 1, 2 and 4, and in one process"

# ---- starting from a model --------------------------------------------------------------------------------

head -n 2000 "$segment" >fewer.csv
hinge="--rule class --kind triplet --loss hinge --scale zscore --distortion 30"
"$bdml" train fewer.csv -o fewer.bdml -q $hinge
"$bdml" train "$segment" -o more.bdml -q --warm fewer.bdml
head -n 160 "$wine" >fewer-wines.csv
"$bdml" train fewer-wines.csv -o chose.bdml -q --scale zscore
"$bdml" train "$wine" -o chosen.bdml -q --warm chose.bdml
for p in 2 3; do
    ranks "$p" train "$segment" -o more-$p.bdml -q --warm fewer.bdml
    same more.bdml more-$p.bdml
    ranks "$p" train "$wine" -o chosen-$p.bdml -q --warm chose.bdml
    same chosen.bdml chosen-$p.bdml
done
"$bdml" info more-3.bdml --json | grep -q '"multipliers": [1-9]' || fail "no multipliers were taken over by ranks"
echo "ok: ranks start from a model as one process does"

# ---- MPI stays where it belongs ------------------------------------------------------------------------

library=$(find "$BDML_BUILD/src" -name 'libbdml.so' | head -1)
if command -v nm >/dev/null 2>&1; then
    ! nm -D "$library" | grep -qi 'MPI_' || fail "libbdml.so has a symbol of MPI"
    nm -D "$BDML_BUILD/mpi/libbdml-mpi.so" | grep -q 'U MPI_Alltoall' || fail "libbdml-mpi.so lacks MPI"
fi
echo "ok: no symbol of MPI in libbdml"
