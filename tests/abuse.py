#!/usr/bin/env python3
"""Abusive data: a right, certified answer or a clear refusal?  abuse.py BDML [SETS]

Makes data sets of 20 kinds that numbers go wrong on, trains on each under settings that vary from set to set, and asks of every
run: exit 0, every number of the metric finite, and 'bdml certify' confirms the model on its data; or exit 3 with a proof that
certify confirms; or exit 2 with one line that says what is wrong with the data. Nothing else, and nothing that takes two minutes.
SETS: how many (default 400: 20 of each kind). Ends with the counts.
"""
import concurrent.futures
import json
import math
import os
import random
import subprocess
import sys
import tempfile

BDML = os.path.abspath(sys.argv[1])
SETS = int(sys.argv[2]) if len(sys.argv) > 2 else 400


def classes(r, n, d, apart=2.0):
    """n rows of d numbers in two classes, whose first column tells them apart."""
    return [([r.gauss(apart * (i % 2) if j == 0 else 0.0, 1.0) for j in range(d)], "ab"[i % 2]) for i in range(n)]


def scaled(rows, factors):
    return [([v * f for v, f in zip(x, factors)], y) for x, y in rows]


# ---- the kinds: each makes rows of a seed

def tiny(r):
    return scaled(classes(r, 40, 4), [1e-300] * 4)


def huge(r):
    return scaled(classes(r, 40, 4), [1e300] * 4)


def mixed(r):
    return scaled(classes(r, 40, 4), [1e-300, 1e300, 1.0, 1e-5])


def subnormal(r):
    return scaled(classes(r, 40, 3), [5e-324 * 1000] * 3)


def duplicates(r):
    some = classes(r, 4, 3)
    return some * 12


def wide(r):
    return classes(r, 12, 60)


def one_column(r):
    return classes(r, 50, 1)


def two_points(r):
    return [([r.random(), r.random()], "a"), ([r.random(), r.random()], "b")]


def singletons(r):
    return [([r.gauss(0, 1) for _ in range(3)], "c%d" % i) for i in range(20)]


def constants(r):
    return [([7.25, x[0], -1e9], y) for x, y in classes(r, 30, 1)]


def all_constant(r):
    return [([3.0, 3.0], "ab"[i % 2]) for i in range(20)]


def outlier(r):
    rows = classes(r, 40, 3)
    rows[5] = ([10.0 ** r.choice([8, 150, 307])] * 3, "a")
    return rows


def offset(r):
    return [([1e15 + round(v * 4), v, 1e8 + v], y) for (v,), y in classes(r, 40, 1)]


def one_class(r):
    return [(x, "a") for x, y in classes(r, 20, 2)]


def collinear(r):
    return [([v, 2 * v, -v, v + 1e-13 * r.random()], y) for (v,), y in classes(r, 40, 1)]


def one_against_all(r):
    return [(x, "b" if i == 0 else "a") for i, (x, y) in enumerate(classes(r, 40, 3))]


def in_both_classes(r):
    rows = classes(r, 15, 3)
    return rows + [(x, "ba"[y == "b"]) for x, y in rows]


def no_numbers(r):
    rows = classes(r, 20, 3)
    rows[3][0][1] = r.choice([math.inf, -math.inf, math.nan])
    return rows


def rows_apart(r):
    return [([v * 10.0 ** (i % 7 * 40 - 120) for v in x], y) for i, (x, y) in enumerate(classes(r, 42, 3))]


def equal_constraints(r):
    return classes(r, 30, 3)  # and a file of a million triplets, all the same: see settings_of


KINDS = [tiny, huge, mixed, subnormal, duplicates, wide, one_column, two_points, singletons, constants, all_constant, outlier,
         offset, one_class, collinear, one_against_all, in_both_classes, no_numbers, rows_apart, equal_constraints]
SETTINGS = ["", "--scale zscore --rule nearest --softness 10 --reference none --distortion 10",
            "--hard --reference none --scale none --targets 1 --impostors 1", "--diagonal --scale minmax --distortion 100",
            "--reference zscore --distortion 1e6 --rule nearest --softness 1", "--method lda", "--method lmnn --max-iter 50",
            "--method gmml", "--method nca --nca-steps 5", "--kind pair --hard --targets 1 --scale none --reference none"]


def settings_of(kind, number, folder):
    if kind is equal_constraints:
        path = os.path.join(folder, "triplets.csv")
        with open(path, "w") as f:
            f.write("0,2,1\n" * (1000000 if number < len(KINDS) else 10000))
        return ["--triplets-file", path, "--scale", "zscore"]
    return SETTINGS[(number // len(KINDS)) % len(SETTINGS)].split()


def bdml(*arguments):
    p = subprocess.run([BDML] + [str(a) for a in arguments] + ["--threads", "1"], stdin=subprocess.DEVNULL,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    return p.returncode, p.stdout.decode("utf-8", "replace"), p.stderr.decode("utf-8", "replace")


def numbers(text):
    return [float(v) for line in text.split() for v in line.split(",")]


def attempt(number):
    """What became of set `number`, and what is wrong with that, or None."""
    kind, r = KINDS[number % len(KINDS)], random.Random(number)
    with tempfile.TemporaryDirectory(prefix="bdml-abuse-") as folder:
        data, model = os.path.join(folder, "x.csv"), os.path.join(folder, "m.bdml")
        with open(data, "w") as f:
            rows = kind(r)
            f.write(",".join("x%d" % j for j in range(len(rows[0][0]))) + ",class\n")
            f.writelines(",".join(repr(v) for v in x) + "," + y + "\n" for x, y in rows)
        settings = settings_of(kind, number, folder)
        name = "%d, %s, %s" % (number, kind.__name__, " ".join(settings) or "the recipe")
        try:
            code, out, err = bdml("train", data, "-o", model, "-q", *settings)
            if code == 2:
                line = err.strip().split("\n")[-1]
                good = line.startswith("bdml: ") and len(line) > 30 and not os.path.exists(model)
                return "refused", None if good else name + ": refused so: " + err
            if code not in (0, 3):
                return "failed", "%s: exit %d: %s" % (name, code, err)
            if code == 3:
                model += ".proof"
            else:
                code, out, err = bdml("export", model, "--what", "M", "-o", "-", "-q")
                if code != 0 or not all(math.isfinite(v) for v in numbers(out)):
                    return "failed", "%s: no finite metric: %s %s" % (name, out[:200], err)
                code, out, err = bdml("predict", model, data, "-o", os.path.join(folder, "y.csv"), "-q")
                if code != 0:
                    return "failed", "%s: predict: exit %d: %s" % (name, code, err)
            if "--method" in settings:
                return "answered", None  # these methods claim nothing
            code, out, err = bdml("certify", model, data, "--json", *(["--triplets-file", settings[1]]
                                                                     if kind is equal_constraints else []))
            verdict = json.loads(out) if out.startswith("{") else {}
            if code == 0:
                return "certified", None
            return "failed", "%s: certify: exit %d: %s" % (name, code, verdict.get("reason") or err)
        except subprocess.TimeoutExpired:
            return "failed", name + ": more than two minutes"


ends, wrong = {}, []
with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
    for end, why in pool.map(attempt, range(SETS)):
        ends[end] = ends.get(end, 0) + 1
        if why:
            wrong.append(why)
            print("FAILED:", why, flush=True)
print("%d sets: %s" % (SETS, ", ".join("%d %s" % (v, k) for k, v in sorted(ends.items()))))
print("cases: %d passed, %d failed" % (SETS - len(wrong), len(wrong)))
sys.exit(bool(wrong))
