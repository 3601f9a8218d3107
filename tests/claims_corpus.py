#!/usr/bin/env python3
"""claims_corpus.py BDML BDML_CHECK [RANDOM [HOSTILE [CSDP [FIRST]]]] - does training ever claim more than is so?

RANDOM small problems of every form, and HOSTILE ones of bad placement: offsets up to 1e12, spreads down to 1e-9, outliers,
clusters far apart, duplicates, near-contradictions, K from 1 to the largest. Each is trained, its claim exported as a
certificate and put before bdml-check, and where it is small enough before the exact checker. CSDP of them are solved by
csdp as well, whose optimum must lie in the bracket. Prints counts by outcome, with the reason of every "stopped".
FIRST: number of the first problem, to repeat one."""
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from fractions import Fraction as Q

import exact_check

BDML, CHECK = sys.argv[1:3]
RANDOM, HOSTILE, CSDP, FIRST = (int(x) for x in (sys.argv[3:] + ["60", "40", "5", "0"][len(sys.argv) - 3:])[:4])
LARGEST = 1e9  # distortion


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


# ---- problems ---------------------------------------------------------------------------------------------------


def clouds(rng, n, d):
    apart = rng.choice([0.5, 2, 6])
    return [[rng.gauss(0, 1) + (apart * (i % 2) if j == 0 else 0) for j in range(d)] for i in range(n)]


def offset(rng, x):
    by = [10 ** rng.uniform(3, 12) for _ in x[0]]
    return [[v + b for v, b in zip(row, by)] for row in x]


def spread(rng, x):
    by = [10 ** rng.uniform(-9, 9) for _ in x[0]] if rng.random() < 0.5 else [10 ** rng.uniform(-9, 9)] * len(x[0])
    return [[v * b for v, b in zip(row, by)] for row in x]


def outlier(rng, x):
    for _ in range(rng.choice([1, 1, 2])):
        x[rng.randrange(len(x))][rng.randrange(len(x[0]))] += rng.choice([-1, 1]) * 10 ** rng.uniform(3, 12)
    return x


def clusters(rng, x):
    by = 10 ** rng.uniform(4, 12)
    return [[v + (by if j == 0 and i % 4 < 2 else 0) for j, v in enumerate(row)] for i, row in enumerate(x)]


def duplicates(rng, x):
    for _ in range(rng.randint(1, 3)):
        x[rng.randrange(len(x))] = x[rng.randrange(len(x))][:]
    return x


def near(rng, x):
    """Pairs of points that nearly coincide, of one class or of two: margins that nearly contradict each other."""
    for _ in range(rng.randint(1, 3)):
        by = 10 ** rng.uniform(-15, -3)
        x[rng.randrange(len(x))] = [v * (1 + by * rng.gauss(0, 1)) for v in x[rng.randrange(len(x))]]
    return x


def both(rng, x):
    one, other = rng.sample([offset, spread, outlier, clusters, near], 2)
    return other(rng, one(rng, x))


PLACEMENTS = {"offset": offset, "spread": spread, "outlier": outlier, "clusters": clusters, "duplicates": duplicates,
              "near": near, "both": both}
FORMS = ["--hard --kind pair", "--hard --kind triplet", "--rule class", "--rule class --loss hinge", "--rule nearest"]


def make(number):
    """(placement, rows, options) of a problem; those from RANDOM on are hostile"""
    rng = random.Random(number)
    n, d = rng.choice([6, 8, 10, 14, 24, 40]), rng.choice([1, 2, 2, 3, 3, 5])
    x, placement = clouds(rng, n, d), "random"
    if number >= RANDOM:
        placement = rng.choice(sorted(PLACEMENTS))
        x = PLACEMENTS[placement](rng, x)
    K = rng.choice([1, 1.5, 3, 10, 100, 1e4, 10 ** rng.uniform(4, 9), LARGEST])
    options = rng.choice(FORMS).split() + ["--distortion", repr(float(K)), "--targets", "2", "--impostors", "2"]
    options += ["--reference", rng.choice(["none", "none", "zscore", "within"])]
    options += ["--scale", rng.choice(["none", "none", "zscore", "minmax"] + ["unit"] * (d > 1) if number < RANDOM else ["none"] * 4 + ["zscore"])]
    if rng.random() < 0.2:
        options.append("--diagonal")
    if rng.random() < 0.2:
        options += ["--trace", repr(10 ** rng.uniform(-2, 3))]
    if rng.random() < 0.2:
        options += ["--gap", "1e-6"]
    return placement, x, options


# ---- csdp -------------------------------------------------------------------------------------------------------


def sdpa(c, unit):
    """The problem of a certificate for csdp: x holds the entries of M, a, and the misses of the hinge.
        min c'x   M - a I >= 0,  K a I - M >= 0,  <A_t,M> + miss_t - mu_t >= 0,  miss >= 0,  1 - trace(M)/R >= 0
    with the costs c in units of `unit`."""
    points = {}
    for i, row in c.rows.items():
        u = row if c.width is None else [v / w if w else Q(0) for v, w in zip(row, c.width)]
        points[i] = exact_check.apply(c.reference, exact_check.apply(c.basis, u))
    diff = [[a - b for a, b in zip(points[i], points[j])] for i, j in c.pairs]
    g, d, m = exact_check.objective_matrix(c, points, diff), c.d, len(c.mu)
    place = {(i, j): k for k, (i, j) in enumerate((i, j) for i in range(d) for j in range(i + 1)
                                                  if i == j or not c.diagonal)}
    a, hinge = len(place), c.form == "hinge"
    variables, rows, cost = a + 1 + m * hinge, m + m * hinge + (c.R is not None), [Q(0)] * (a + 1)
    entries = []  # variable (0: constant), block, i, j, value
    for (i, j), k in place.items():
        cost[k] = g[i][j] * (1 if i == j else 2)
        entries += [(k + 1, 1, j, i, Q(1)), (k + 1, 2, j, i, Q(-1))]
        for t in range(m):
            v = diff[c.far[t]][i] * diff[c.far[t]][j]
            if c.near[t] is not None:
                v -= diff[c.near[t]][i] * diff[c.near[t]][j]
            entries.append((k + 1, 3, t, t, v * (1 if i == j else 2)))
        if c.R is not None and i == j:
            entries.append((k + 1, 3, rows - 1, rows - 1, -1 / c.R))
    for i in range(d):
        entries += [(a + 1, 1, i, i, Q(-1)), (a + 1, 2, i, i, c.K)]
    for t in range(m):
        entries.append((0, 3, t, t, c.mu[t]))
        if hinge:
            entries += [(a + 2 + t, 3, t, t, Q(1)), (a + 2 + t, 3, m + t, m + t, Q(1))]
            cost.append(c.cost * c.weight[t] / m)
    if c.R is not None:
        entries.append((0, 3, rows - 1, rows - 1, Q(-1)))
    lines = ["%d" % variables, "3", "%d %d %d" % (d, d, -rows), " ".join(repr(float(v / unit)) for v in cost)]
    return "\n".join(lines + ["%d %d %d %d %r" % (k, b, i + 1, j + 1, float(v)) for k, b, i, j, v in entries if v]) + "\n"


def rival(folder, text):
    """csdp's optimum from and to, or None when it does not claim one. Its accuracy is about 1e-8 of 1 and the optimum: the
    objective is given in units of the claimed upper end. Its two ends may be the wrong way round, and farther apart: what it
    calls solved meets the constraints only nearly, which counts for much where K is large."""
    c = exact_check.read(text)
    if c.claim != "bracket" or c.form == "squared-hinge" or c.unit or c.K > 1e4:
        return None
    path = os.path.join(folder, "p.dat-s")
    with open(path, "w") as f:
        f.write(sdpa(c, c.upper))
    done = run("csdp", path, os.path.join(folder, "p.sol"))
    if not done.stdout.count("Success: SDP solved\n"):
        return None
    ends = [float(c.upper) * float(done.stdout.split(which + " objective value:")[1].split()[0]) for which in ("Primal", "Dual")]
    return min(ends), max(ends)


# ---- the corpus -------------------------------------------------------------------------------------------------


def outcome_of(status, said):
    """In words: what is claimed, by what a solve was stopped, or why there is no claim."""
    if status in (0, 3):
        return said["status"] + (" by " + said["stopped_by"] if "stopped_by" in said else "")
    return "refused: " + re.sub(r"[-+0-9.e]*\d[-+0-9.e]*", "#", said.get("error", "no reason"))[:70]


class Corpus:
    def __init__(self, folder):
        self.folder = folder
        self.outcomes, self.bad = Counter(), []
        self.checked = self.exact = self.inside = self.asked = 0

    def fail(self, number, options, what):
        self.bad.append("problem %d (%s): %s" % (number, " ".join(options), what))

    def one(self, number):
        placement, x, options = make(number)
        data, model, cert = (os.path.join(self.folder, f) for f in ("x.csv", "m.bdml", "m.cert"))
        with open(data, "w") as f:
            f.writelines(",".join(repr(v) for v in row) + ",%s\n" % "ab"[i % 2] for i, row in enumerate(x))
        done = subprocess.run([BDML, "train", data, "-o", model, "--json", "--max-iter", "20000", *options],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        status = done.returncode
        if status not in (0, 2, 3) or not done.stdout.startswith("{"):
            self.fail(number, options, "status %d: %s" % (status, done.stdout + done.stderr))
            return
        said = json.loads(done.stdout)
        outcome = outcome_of(status, said)
        self.outcomes[placement if placement == "random" else "hostile: " + placement, outcome] += 1
        if status == 2:
            return
        if outcome == "stopped":
            self.fail(number, options, "stopped, and no reason")
        if status == 0 and not said.get("lower", 0) <= said.get("upper", said.get("objective", 0)):
            self.fail(number, options, "lower above upper")
        done = run(BDML, "export", model + (".proof" if status == 3 else ""), data, "--certificate", "-o", cert, "-q")
        got = run(CHECK, cert, data)
        self.checked += 1
        if done.returncode != 0 or got.returncode != 0:
            self.fail(number, options, "%s: %s" % (outcome, (done.stdout + got.stdout)[-200:]))
            return
        with open(cert) as f:
            text = f.read()
        if len(x) <= 10 and len(x[0]) <= 2:
            exact, why = exact_check.check(text, data)
            self.exact += exact == 0
            if exact not in (0, 3):
                self.fail(number, options, "the exact checker: " + why)
        if self.asked < CSDP and shutil.which("csdp") and outcome == "optimal" and placement == "random":
            optimum = rival(self.folder, text)
            if optimum is not None:
                self.asked += 1
                room = 1e-6 * abs(optimum[0])  # csdp's accuracy
                if said["lower"] - room <= optimum[1] and optimum[0] <= said["upper"] + room:
                    self.inside += 1
                else:
                    self.fail(number, options, "csdp finds %.9g to %.9g, bracket [%.9g, %.9g]" % (
                        *optimum, said["lower"], said["upper"]))


def main():
    with tempfile.TemporaryDirectory() as folder:
        corpus = Corpus(folder)
        for number in range(FIRST, RANDOM + HOSTILE):
            corpus.one(number)
    for (placement, outcome), count in sorted(corpus.outcomes.items()):
        print("%-20s %5d  %s" % (placement, count, outcome))
    print("%d claims before bdml-check, %d confirmed by the exact checker too; csdp inside the bracket on %d of %d" % (
        corpus.checked, corpus.exact, corpus.inside, corpus.asked))
    for text in corpus.bad[:20]:
        print("FAILED:", text)
    total, failed = sum(corpus.outcomes.values()), len(corpus.bad)
    print("cases: %d passed, %d failed" % (total - failed, failed))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
