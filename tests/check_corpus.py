#!/usr/bin/env python3
"""check_corpus.py BDML BDML_CHECK [SEEDS [MOST]] - honest certificates and forged ones, before both checkers.

Honest: small random problems of every form, trained, exported; bdml-check and the exact checker must agree, and at least one
of each form must be confirmed. Forged: every field of those certificates in turn, changed in one place in every way listed below. Some
changes leave the statement true; exact arithmetic tells them from the lies, and bdml-check must confirm no lie. MOST: files
of one kind (a field and a lie) that are tried."""
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter

import exact_check

BDML, CHECK = sys.argv[1:3]
SEEDS = int(sys.argv[3]) if len(sys.argv) > 3 else 5
MOST = int(sys.argv[4]) if len(sys.argv) > 4 else 3

FORMS = {
    "hard pairs": "--hard --kind pair --distortion 10 --reference none",
    "hard triplets": "--hard --kind triplet --distortion 100 --reference none",
    "hard at K = 1": "--hard --kind pair --distortion 1 --reference zscore",
    "trace": "--hard --kind pair --distortion 10 --trace 100 --reference none",
    "small trace": "--hard --kind pair --distortion 10 --trace 0.05 --reference none",
    "contradiction": "--hard --kind triplet --distortion 2 --reference none --scale zscore",
    "squared hinge": "--distortion 10 --rule class --reference zscore",
    "hinge": "--distortion 10 --rule class --loss hinge --reference none --scale minmax",
    "soft trace": "--distortion 10 --rule class --trace 0.5 --reference none",
    "within": "--distortion 3 --reference within",
    "diagonal": "--distortion 10 --rule class --diagonal --reference none",
    "basis": "--distortion 1000 --rule class --scale zscore --pca 2 --reference none",
    "missing": "--distortion 10 --rule class --missing mean --reference none",
    "rank": "--distortion 10 --rank 2 --scale zscore",
    "lifted": "--solver mwu --kind pair --distortion 10 --trace 40 --rounds 100 --reference none",
}


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def write(path, text):
    with open(path, "w") as f:
        f.write(text)


def make_data(path, form, rng):
    """Two classes in two or three dimensions; hard triplets are met more often where they lie apart."""
    d, apart = 3 if form in ("basis", "rank") else rng.choice([2, 3]), 6 if form == "hard triplets" else 2
    lines = []
    for i in range(rng.randint(8, 12)):
        row = ["%.3f" % (rng.gauss(0, 1) + (apart * (i % 2) if j == 0 else 0)) for j in range(d)]
        if form == "missing" and i == 3:
            row[1] = ""
        lines.append(",".join(row) + ",%s" % "ab"[i % 2])
    write(path, "\n".join(lines) + "\n")


def make_certificate(folder, form, seed):
    """(text, data file), or None where training has nothing to claim."""
    data, model, cert = (os.path.join(folder, x) for x in ("%s-%d.csv" % (form, seed), "m.bdml", "m.cert"))
    make_data(data, form, random.Random("%s %d" % (form, seed)))
    if form == "contradiction" and seed % 2 == 0:  # the same point under two labels
        with open(data, "a") as f:
            f.write(open(data).readline().replace(",a", ",b"))
    done = run(BDML, "train", data, "-o", model, "-q", "--targets", "2", "--impostors", "2", *FORMS[form].split())
    if done.returncode not in (0, 3):
        return None
    if done.returncode == 3:
        model += ".proof"
    missing = ["--missing", "mean"] if form == "missing" else []
    done = run(BDML, "export", model, data, "--certificate", "-o", cert, "-q", *missing)
    assert done.returncode == 0, done.stdout
    with open(cert) as f:
        return f.read(), data


# ---- fields -----------------------------------------------------------------------------------------------------


def fields(tokens):
    """The field that each token belongs to, and its kind: keyword, word, number or integer."""
    out, at = [], 0

    def take(field, kind, count=1):
        nonlocal at
        out.extend([(field, kind)] * count)
        at += count

    def keyword():
        take(tokens[at], "keyword")

    def maybe(field, kind, count):
        """none, or so many tokens"""
        take(field, "word") if tokens[at] == "none" else take(field, kind, count)

    def matrix(columns):
        field = tokens[at]
        keyword()
        if tokens[at] == "none":
            take(field, "word")
            return None
        rows = int(tokens[at])
        take(field + " count", "integer")
        take(field, "number", rows * columns)
        return rows

    keyword()
    take("version", "word")
    for field in ("claim", "form", "metric"):
        keyword()
        take(field, "word")
    for field in ("distortion", "trace", "margin", "cost"):
        keyword()
        maybe(field, "number", 1)
    keyword()
    take("objective", "word")
    if tokens[at - 1] != "none":
        take("scale", "number")
    keyword()
    take("data rows", "integer")
    columns = int(tokens[at])
    take("data columns", "integer")
    keyword()
    maybe("missing", "number", columns)
    keyword()
    take("unit", "word")
    keyword()
    maybe("width", "number", columns)
    middle = matrix(columns) or columns
    d = matrix(middle) or middle
    keyword()
    rows = int(tokens[at])
    take("rows count", "integer")
    for _ in range(rows):
        take("row", "integer")
        take("value", "number", columns)
    keyword()
    classes = tokens[at]
    take("classes", "word" if classes == "none" else "integer")
    if classes != "none":
        take("class", "integer", rows)
    for section, parts in (("pairs", [("pair", "integer")] * 2), ("targets", [("target", "integer")]),
                           ("constraints", [("far", "integer"), ("near", "integer"), ("own margin", "number"),
                                            ("weight", "number")])):
        keyword()
        count = int(tokens[at])
        take(section + " count", "integer")
        for _ in range(count):
            for part in parts:
                take(*part)
    matrix(d)
    keyword()
    count = int(tokens[at])
    take("multipliers count", "integer")
    for _ in range(count):
        take("place", "integer")
        take("multiplier", "number")
    for _ in range(2):
        if tokens[at] in ("lower", "upper"):
            field = tokens[at]
            keyword()
            take(field, "number")
    keyword()
    assert at == len(tokens), tokens[at]
    return out


WORDS = ["bracket", "lower", "infeasible", "contradiction", "hard", "squared-hinge", "hinge", "full", "diagonal",
         "none", "targets", "within", "yes", "no", "2", "constant"]


def lies(kind, token, rng):
    """(name of the lie, what stands there instead); None: the token is left out"""
    yield "left out", None
    yield "said twice", token + " " + token
    yield "nonsense", "?"
    if kind == "word":
        for word in rng.sample([word for word in WORDS if word != token], 6):
            yield "another word", word
        yield "number for a word", "0x1.8p+1"
    elif kind == "integer":
        if token == "-":
            yield "another number", "0"
            return
        yield "negative", "-1"
        yield "too large", "4000000000"
        yield "one more", str(int(token) + 1)
        yield "another number", "0"
        yield "another number", "1"
    elif kind == "number" and token not in ("constant", "none"):
        x = float.fromhex(token)
        yield "NaN", "nan"
        yield "Inf", "inf"
        yield "overflow", "0x1p+1024"
        yield "underflow", "0x1.8p-1074"
        yield "decimal", repr(x)
        yield "too many digits", "0x1.00000000000001p+0"
        yield "zero", "0x0p+0"
        yield "negated", (-x).hex()
        yield "near zero", "0x1p-1000"
        yield "huge", "0x1p+900"
        for name, factor in (("doubled", 2.0), ("halved", 0.5), ("a millionth more", 1.000001),
                             ("a millionth less", 0.999999)):
            yield name, (x * factor).hex() if x else "0x1p-3"


def forgeries(text, rng, places):
    """(field, lie, text): every field, every lie, at some places each"""
    tokens = text.split()
    by_field = {}
    for at, (field, kind) in enumerate(fields(tokens)):
        by_field.setdefault((field if kind != "keyword" else "keyword", kind), []).append(at)
    for (field, kind), at in by_field.items():
        for place in rng.sample(at, min(places if kind != "keyword" else 6, len(at))):
            for lie, instead in lies(kind, tokens[place], rng):
                changed = tokens[:place] + ([] if instead is None else [instead]) + tokens[place + 1:]
                yield field, lie, " ".join(changed)
    yield "file", "truncated", text[: len(text) // 2]
    yield "file", "more after the end", text + " end"
    yield "file", "empty", ""


# ---- the test ---------------------------------------------------------------------------------------------------


class Bench:
    def __init__(self, folder):
        self.cert = os.path.join(folder, "c.cert")
        self.bad = []

    def statuses(self, what, text, data, honest):
        """Those of bdml-check and of the exact checker; a confirmed lie, or two words about an honest one, are kept."""
        write(self.cert, text)
        got = run(CHECK, self.cert, data)
        exact, why = exact_check.check(text, data)
        wrong = got.returncode == 0 and exact in (1, 2) or honest and exact != got.returncode
        if got.returncode not in (0, 1, 2) or wrong:
            self.bad.append("%s: bdml-check %d, exact %d (%s)\n%s" % (what, got.returncode, exact, why, got.stdout))
        return got.returncode, exact


def main():
    honest, confirmed, forged, harmless = Counter(), Counter(), Counter(), Counter()
    fields_hit, fields_seen, samples = set(), set(), {}
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(folder)
        for form in FORMS:
            for seed in range(SEEDS):
                made = make_certificate(folder, form, seed)
                if not made:
                    continue
                honest[form] += 1
                claim = made[0].split()[3]
                if bench.statuses("honest %s %d" % (form, seed), *made, True) == (0, 0):
                    confirmed[form] += 1
                    samples.setdefault((form, claim), made)
        for (form, claim), (text, data) in samples.items():
            rng = random.Random(form)
            for field, lie, changed in forgeries(text, rng, 1):
                fields_seen.add(field)
                if forged[field, lie] == MOST:
                    continue
                what = "forged %s %s: %s, %s" % (form, claim, field, lie)
                exact = bench.statuses(what, changed, data, False)[1]
                if exact in (1, 2):
                    forged[field, lie] += 1
                    fields_hit.add(field)
                else:
                    harmless[field, lie] += 1
    for form in FORMS:
        print("honest %-14s %2d of %2d confirmed" % (form, confirmed[form], honest[form]))
    lie_counts = Counter()
    for (field, lie), count in forged.items():
        lie_counts[lie] += count
    print("forged %d in %d kinds over %d fields of %d; %d changes leave the statement true" % (
        sum(forged.values()), len(forged), len(fields_hit), len(fields_seen), sum(harmless.values())))
    print("by lie: " + ", ".join("%s %d" % x for x in lie_counts.most_common()))
    failed = len(bench.bad)
    for text in bench.bad[:10]:
        print("FAILED:", text)
    if fields_hit != fields_seen:
        print("FAILED: never forged:", ", ".join(sorted(fields_seen - fields_hit)))
        failed += 1
    for form in FORMS:
        if confirmed[form] == 0:
            print("FAILED: no certificate of the form", form)
            failed += 1
    total = sum(honest.values()) + sum(forged.values()) + sum(harmless.values())
    print("cases: %d passed, %d failed" % (total - min(failed, total), failed))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
