#!/usr/bin/env python3
"""What pictures are made of, against direct computation: which features matter, neighbours, the walk along K.

    check_pictures.py DATA.csv M.csv TRAIN.json PATH.json     all with --scale zscore; M as `bdml export` writes it"""
import csv
import json
import math
import sys

rows = list(csv.reader(open(sys.argv[1])))
names, x = rows[0][:-1], [[float(v) for v in r[:-1]] for r in rows[1:]]
M = [[float(v) for v in r] for r in csv.reader(open(sys.argv[2])) if r and r[0].replace("-", "")[0].isdigit()]
train, path = json.load(open(sys.argv[3])), json.load(open(sys.argv[4]))
n, d = len(x), len(names)
failed = 0


def check(name, ok, seen=""):
    global failed
    failed += not ok
    if not ok:
        print("FAILED:", name, seen)


# Prepared points: mean 0 and a standard deviation of 1, up to n or n - 1 below the root, which no share sees.
mean = [sum(r[j] for r in x) / n for j in range(d)]
sd = [math.sqrt(sum((r[j] - mean[j]) ** 2 for r in x) / n) for j in range(d)]
z = [[(r[j] - mean[j]) / sd[j] for j in range(d)] for r in x]

# Weights: M_jj over the trace, heaviest first.
matter = train["features_that_matter"]
trace = sum(M[j][j] for j in range(d))
expect = sorted(((M[j][j] / trace, names[j]) for j in range(d)), reverse=True)
check("features: order and names", matter["name"] == [e[1] for e in expect], matter["name"])
check("features: weights", all(abs(w - e[0]) < 1e-9 for w, e in zip(matter["weight"], expect)), matter["weight"])
# Directions: M v = share * trace * v with |v| = 1. All loadings are told where there are so few.
for direction in matter["direction"]:
    v = [direction["loading"][direction["feature"].index(name)] for name in names]
    image = [sum(M[i][j] * v[j] for j in range(d)) for i in range(d)]
    off = max(abs(image[i] - direction["share"] * trace * v[i]) for i in range(d))
    check("features: an eigenvector", off < 1e-9 * trace and abs(sum(t * t for t in v) - 1) < 1e-9, off)

# Neighbours before: by brute force in the prepared points, ties to the lower number.
walk = path["walk"]
shown = [z[r] for r in walk["row"]]
k = len(walk["before"]["neighbors"][0])
for i, a in enumerate(shown):
    order = sorted((round(sum((s - t) ** 2 for s, t in zip(a, b)), 12), j) for j, b in enumerate(shown) if j != i)
    if order[k - 1][0] == order[k][0] or len({o[0] for o in order[:k]}) < k:
        continue  # a tie, which rounding may decide either way
    check(f"neighbours of {i}", walk["before"]["neighbors"][i] == [j for _, j in order[:k]])

# The walk: every K of the path, its cap kept, the cloud of total variance 1 and in its leading directions.
check("walk: every K", [s["distortion"] for s in walk["step"]] == [r["distortion"] for r in path["path"]])
for step, row in zip(walk["step"], path["path"]):
    e = step["eigenvalue"]
    check("walk: spectrum within the cap", e[0] == 1 and e == sorted(e, reverse=True) and
          e[-1] * row["distortion"] > 1 - 1e-6, e)
    # the same problem as the path's: its distortion, up to the gap that both are solved to
    check("walk: the path's own metric", abs(1 / e[-1] / row["kappa"] - 1) < 0.02, (1 / e[-1], row["kappa"]))
for cloud in [walk["before"]] + walk["step"]:
    p = cloud["points"]
    variance = [sum(q[c] ** 2 for q in p) / len(p) for c in range(2)]
    check("cloud: shares of the variance", all(abs(v - s) < 1e-3 for v, s in zip(variance, cloud["share"])) and
          cloud["share"][0] >= cloud["share"][1] and sum(cloud["share"]) < 1 + 1e-3, (variance, cloud["share"]))
sys.exit(failed > 0)
