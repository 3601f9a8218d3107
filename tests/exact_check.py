#!/usr/bin/env python3
"""exact_check.py CERTIFICATE [DATA.csv] - a second checker of certificates (docs/certificate.md), in exact fractions.

Slow and for small problems; shares nothing with bdml-check, not even the argument: eigenvalues never enter a proof.
That a I <= M <= K a I is decided by the exact factorisation LDL' of both differences, and a lower bound theta of
<S,M> over kappa(M) <= K, trace(M) = 1 by a matrix N >= 0 with S - theta I + N >= 0: for M = a (I + Z), 0 <= Z <= (K-1) I,
    <S - theta I, M> >= a (tr(S - theta I) - (K-1) tr N) >= 0.
Approximate eigenvectors (60 digits) only suggest a, theta and N. Exit: 0 confirmed, 1 not proven, 2 refused, 3 undecided."""
import csv
import re
import sys
from decimal import Decimal, getcontext
from fractions import Fraction as Q

getcontext().prec = 60
NUMBER = re.compile(r"-?0x[01](\.[0-9a-f]{1,13})?p[+-]\d{1,4}$")


class Refused(Exception):
    pass


class Undecided(Exception):
    """Numbers that are no fractions."""


def need(condition, why):
    if not condition:
        raise Refused(why)


class Reader:
    def __init__(self, text):
        self.tokens = re.sub(r"#.*", "", text).split()
        self.at = 0

    def word(self):
        need(self.at < len(self.tokens), "ends too early")
        self.at += 1
        return self.tokens[self.at - 1]

    def name(self, word, choices=None):
        got = self.word()
        need(got == word, f"'{got}' where '{word}' must stand")
        if choices:
            got = self.word()
            need(got in choices, f"{word} cannot be '{got}'")
            return got

    def peek(self, word):
        if self.at < len(self.tokens) and self.tokens[self.at] == word:
            self.at += 1
            return True
        return False

    def count(self, below=2**31):
        got = self.word()
        need(re.match(r"\d+$", got, re.ASCII) and int(got) < below, f"'{got}' is not a number in range")
        return int(got)

    def number(self, least=None, above=None):
        got = self.word()
        need(NUMBER.match(got), f"'{got}' is not a finite hexadecimal number")
        digits, exponent = got.replace("0x", "").split("p")
        digits, _, places = digits.partition(".")
        x = Q(int(digits + places, 16)) * Q(2) ** (int(exponent) - 4 * len(places))
        try:
            need(Q(float.fromhex(got)) == x, f"{got} underflows")
        except OverflowError:
            raise Refused(f"{got} overflows") from None
        need((least is None or x >= least) and (above is None or x > above), f"{got} is out of range")
        return x

    def matrix(self, word, columns):
        self.name(word)
        if self.peek("none"):
            return None
        rows = self.count()
        need(rows > 0, f"{word} has no rows")
        return [[self.number() for _ in range(columns)] for _ in range(rows)]


class Certificate:
    """The fields, read and checked."""


def read(text):
    r, c = Reader(text), Certificate()
    r.name("bdml-certificate", ["1"])
    c.claim = r.name("claim", ["bracket", "lower", "infeasible", "contradiction"])
    c.form = r.name("form", ["hard", "squared-hinge", "hinge"])
    c.diagonal = r.name("metric", ["full", "diagonal"]) == "diagonal"
    r.name("distortion")
    c.K = r.number(least=1)
    r.name("trace")
    c.R = None if r.peek("none") else r.number(above=0)
    r.name("margin")
    c.margin = r.number(above=0)
    r.name("cost")
    c.cost = None if r.peek("none") else r.number(above=0)
    c.objective = r.name("objective", ["none", "targets", "within"])
    c.scale = None if c.objective == "none" else r.number(above=0)
    optimal = c.claim in ("bracket", "lower")
    need((c.cost is None) == (c.form == "hard"), "cost and form")
    need(optimal == (c.objective != "none"), "objective and claim")
    need(optimal or c.form == "hard", "form and claim")
    need(c.claim != "infeasible" or c.R is not None, "trace and claim")
    r.name("data")
    c.data_rows, c.columns = r.count(), r.count()
    need(c.columns > 0, "no columns")
    r.name("missing")
    c.missing = None if r.peek("none") else [r.number() for _ in range(c.columns)]
    c.unit = r.name("unit", ["yes", "no"]) == "yes"
    r.name("width")
    c.width = None if r.peek("none") else [None if r.peek("constant") else r.number(above=0) for _ in range(c.columns)]
    need(not (c.unit and c.width), "unit and width")
    c.basis = r.matrix("basis", c.columns)
    c.reference = r.matrix("reference", len(c.basis) if c.basis else c.columns)
    c.d = len(c.reference or c.basis or range(c.columns))
    r.name("rows")
    c.rows, last = {}, -1
    for _ in range(r.count()):
        i = r.count(c.data_rows)
        need(i > last, "rows out of order")
        c.rows[i] = [r.number() for _ in range(c.columns)]
        last = i
    r.name("classes")
    c.classes = None
    if not r.peek("none"):
        need(r.count() == c.data_rows == len(c.rows), "classes of every row")
        c.classes = [r.count(c.data_rows) for _ in range(c.data_rows)]
    need((c.classes is not None) == (c.objective == "within"), "classes and objective")
    r.name("pairs")
    c.pairs = [(r.count(), r.count()) for _ in range(r.count())]
    need(all(i != j and i in c.rows and j in c.rows for i, j in c.pairs), "a pair")
    r.name("targets")
    c.targets = [r.count(len(c.pairs)) for _ in range(r.count())]
    need((len(c.targets) > 0) == (c.objective == "targets"), "targets and objective")
    r.name("constraints")
    c.far, c.near, c.mu, c.weight = [], [], [], []
    for _ in range(r.count()):
        c.far.append(r.count(len(c.pairs)))
        c.near.append(None if r.peek("-") else r.count(len(c.pairs)))
        need(c.far[-1] != c.near[-1], "a pair against itself")
        c.mu.append(c.margin * r.number(above=0))
        c.weight.append(r.number(least=0))
    need(c.far, "no constraint")
    c.map = r.matrix("map", c.d)
    need((c.map is not None) == (c.claim == "bracket"), "map and claim")
    r.name("multipliers")
    c.y, last = {}, -1
    for _ in range(r.count(len(c.far) + 1)):
        t = r.count(len(c.far))
        need(t > last, "multipliers out of order")
        c.y[t], last = r.number(least=0), t
    if optimal:
        r.name("lower")
        c.lower = r.number()
    if c.claim == "bracket":
        r.name("upper")
        c.upper = r.number()
    r.name("end")
    need(r.at == len(r.tokens), "more after the end")
    return c


# ---- matrices ---------------------------------------------------------------------------------------------------


def apply(matrix, v):
    return v if matrix is None else [sum(a * x for a, x in zip(row, v) if a and x) for row in matrix]


def add_outer(out, v, w):
    for i, x in enumerate(v):
        for j, y in enumerate(v):
            out[i][j] += w * x * y


def zeros(d):
    return [[Q(0)] * d for _ in range(d)]


def semidefinite(a):
    """Exact LDL': no negative pivot, and a zero pivot has a zero row."""
    a = [row[:] for row in a]
    for k in range(len(a)):
        if a[k][k] < 0 or (a[k][k] == 0 and any(a[i][k] for i in range(k, len(a)))):
            return False
        for i in range(k + 1, len(a)):
            if a[i][k]:
                f = a[i][k] / a[k][k]
                for j in range(k + 1, len(a)):
                    a[i][j] -= f * a[k][j]
    return True


def decimal(x):
    return Decimal(x.numerator) / Decimal(x.denominator)


def jacobi(s):
    """Approximate eigenvalues and eigenvectors (rows), 60 digits."""
    d, a = len(s), [[decimal(x) for x in row] for row in s]
    v = [[Decimal(int(i == j)) for j in range(d)] for i in range(d)]
    size = max(abs(x) for row in a for x in row)
    for _ in range(60):
        if all(abs(a[p][q]) <= size * Decimal("1e-55") for p in range(d) for q in range(p)):
            break
        for p in range(d):
            for q in range(p + 1, d):
                if a[p][q] == 0:
                    continue
                tau = (a[q][q] - a[p][p]) / (2 * a[p][q])
                t = (1 if tau >= 0 else -1) / (abs(tau) + (1 + tau * tau).sqrt())
                c = 1 / (1 + t * t).sqrt()
                for m in (a, v):
                    m[p], m[q] = ([c * x - t * c * y for x, y in zip(m[p], m[q])],
                                  [t * c * x + c * y for x, y in zip(m[p], m[q])])
                for row in a:
                    row[p], row[q] = c * row[p] - t * c * row[q], t * c * row[p] + c * row[q]
    return [Q(a[i][i]) for i in range(d)], [[Q(x) for x in row] for row in v]


def density_of(w, K):
    """min_j (K sum of the j smallest + the others) / (jK + d - j)"""
    w, d = sorted(w), len(w)
    return min((K * sum(w[:j]) + sum(w[j:])) / (j * K + d - j) for j in range(d + 1))


def density(c, s):
    """A proven lower bound of <S,M> over kappa(M) <= K, trace(M) = 1."""
    d = c.d
    if c.diagonal or not any(x for row in s for x in row):
        return density_of([s[i][i] for i in range(d)], c.K)
    w, v = jacobi(s)
    slack = max(abs(x) for x in w) * Q(1, 10**35)
    theta = density_of(w, c.K) - slack
    n = zeros(d)
    for x, row in zip(w, v):
        if x < theta + slack / 2:
            add_outer(n, row, theta + slack / 2 - x)
    shifted = [[s[i][j] + n[i][j] - theta * (i == j) for j in range(d)] for i in range(d)]
    trace = sum(s[i][i] - theta - (c.K - 1) * n[i][i] for i in range(d))
    assert trace >= 0 and semidefinite(shifted), "60 digits were not enough"
    return theta


def capped(c, m):
    """a I <= M <= K a I for some a > 0, by trying a few."""
    w, _ = jacobi(m)
    low, high = min(w), max(w) / c.K
    for a in (m[0][0], (low + high) / 2, low * (1 - Q(1, 10**30)), high * (1 + Q(1, 10**30))):
        below = [[m[i][j] - a * (i == j) for j in range(c.d)] for i in range(c.d)]
        above = [[c.K * a * (i == j) - m[i][j] for j in range(c.d)] for i in range(c.d)]
        if a > 0 and semidefinite(below) and semidefinite(above):
            return True
    return False


# ---- the claim --------------------------------------------------------------------------------------------------


def adjoint(c, diff, y):
    out = zeros(c.d)
    for t, v in y.items():
        add_outer(out, diff[c.far[t]], v)
        if c.near[t] is not None:
            add_outer(out, diff[c.near[t]], -v)
    return out


def objective_matrix(c, points, diff):
    g = zeros(c.d)
    if c.objective == "targets":
        for t in c.targets:
            add_outer(g, diff[t], c.scale / len(c.targets))
        return g
    for k in set(c.classes):
        mine = [points[i] for i in range(c.data_rows) if c.classes[i] == k]
        mean = [sum(x) / len(mine) for x in zip(*mine)]
        for p in mine:
            add_outer(g, [x - y for x, y in zip(p, mean)], c.scale / c.data_rows)
    return g


def upper_end(c, g, diff):
    """The objective at M = B'B, or None when M is not allowed."""
    m = zeros(c.d)
    for row in c.map:
        add_outer(m, row, Q(1))
    trace = sum(m[i][i] for i in range(c.d))
    off = any(m[i][j] for i in range(c.d) for j in range(i))
    if (c.R is not None and trace > c.R) or (c.diagonal and off) or not capped(c, m):
        return None
    value = sum(g[i][j] * m[i][j] for i in range(c.d) for j in range(c.d))
    far = [sum(x * x for x in apply(c.map, v)) for v in diff]
    for t, mu in enumerate(c.mu):
        miss = mu - far[c.far[t]] + (0 if c.near[t] is None else far[c.near[t]])
        if miss > 0 and c.form == "hard":
            return None
        if miss > 0:
            value += c.cost * c.weight[t] / len(c.mu) * (miss * miss if c.form == "squared-hinge" else miss)
    return value


def lower_end(c, g, diff, U):
    y, value = {}, Q(0)
    for t, v in c.y.items():
        cost = None if c.form == "hard" else c.cost * c.weight[t] / len(c.mu)
        y[t] = v if cost is None or (cost > 0 and c.form != "hinge") else min(v, cost)
        value += c.mu[t] * y[t]
        if c.form == "squared-hinge" and y[t]:
            value -= y[t] * y[t] / (4 * cost)
    least, R = density(c, g), c.R
    if least > 0:
        R = U / least if R is None else min(R, U / least)
    a = adjoint(c, diff, y)
    steep = density(c, [[g[i][j] - a[i][j] for j in range(c.d)] for i in range(c.d)])
    if steep < 0 and R is None:
        return Q(0)
    return max(min(value + (R * steep if steep < 0 else 0), U), Q(0))


def proven(c):
    points = {}
    for i, x in c.rows.items():
        if c.unit:
            raise Undecided("rows of length 1 are not rational")
        u = x if c.width is None else [v / w if w else Q(0) for v, w in zip(x, c.width)]
        points[i] = apply(c.reference, apply(c.basis, u))
    diff = [[a - b for a, b in zip(points[i], points[j])] for i, j in c.pairs]
    if c.objective == "none":
        a = adjoint(c, diff, c.y)
        most = -density(c, [[-x for x in row] for row in a])
        needed = sum(c.mu[t] * v for t, v in c.y.items())
        return needed > 0 and (most <= 0 or (c.claim == "infeasible" and needed > c.R * most))
    g = objective_matrix(c, points, diff)
    U = c.lower
    if c.claim == "bracket":
        U = upper_end(c, g, diff)
        if U is None or U > c.upper:
            return False
    return lower_end(c, g, diff, max(U, Q(0))) >= c.lower


def same_data(c, path):
    """The stated rows are those of the file; its last column is the label if there is one too many."""
    with open(path, newline="") as f:
        table = [row for row in csv.reader(f) if row]
    try:
        [float(x) for x in table[0][: c.columns] if x not in ("", "?", "NA")]
    except ValueError:
        table = table[1:]
    need(len(table[0]) in (c.columns, c.columns + 1), "columns of the data")
    for i, x in c.rows.items():
        for j, v in enumerate(table[i][: c.columns] if i < len(table) else []):
            if (c.missing[j] if v in ("", "?", "NA") and c.missing else Q(float(v))) != x[j]:
                return False
    if c.classes:
        together = set(zip(c.classes, (row[c.columns] for row in table)))
        if len(together) != len({k for k, _ in together}) or len(together) != len({n for _, n in together}):
            return False
    return len(table) == c.data_rows


def check(text, data=None):
    """0 confirmed, 1 not proven, 2 refused, 3 not for exact arithmetic; and why."""
    try:
        c = read(text)
        if data and not same_data(c, data):
            return 1, "other data"
        return (0, "") if proven(c) else (1, "not proven")
    except Refused as why:
        return 2, str(why)
    except Undecided as why:
        return 3, str(why)


if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        status, reason = check(file.read(), *sys.argv[2:3])
    print("confirmed" if status == 0 else reason)
    sys.exit(status)
