#!/usr/bin/env python3
"""Ordinary files as people have them, and what one plain `bdml train FILE` says of each.

    ordinary_files.py BDML [PAGE]   check every answer against what is written here; PAGE: where to write the
                                    table of docs/formats.md

Only the standard library is used. Each case: name of the file, what it is, its content, and what must be said: a
list of texts in the output. A text that begins with "!" is an error (exit status 2, and no model).
"""
import gzip
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
import zipfile

# ---- data: 45 flowers of three kinds, three numbers each -------------------------------------------------------

random.seed(7)
KINDS = ["setosa", "versicolor", "virginica"]
FLOWERS = []
for number in range(45):
    k = number % 3
    FLOWERS.append(([round(random.gauss(5 + k, 0.3), 1), round(random.gauss(3 - 0.3 * k, 0.2), 1),
                     round(random.gauss(1.5 + 2 * k, 0.3), 1)], KINDS[k]))
HEAD = ["length", "width", "petal", "species"]


def lines(rows, separator=",", end="\n"):
    return end.join(separator.join(str(v) for v in row) for row in rows) + end


def table(head=HEAD, row=lambda i, x, y: x + [y], separator=",", end="\n"):
    rows = [row(i, list(x), y) for i, (x, y) in enumerate(FLOWERS)]
    return lines(([head] if head else []) + rows, separator, end)


def code(y):
    return KINDS.index(y)


def quoted(v):
    return '"%s"' % v


# ---- NPY, NPZ, MAT ------------------------------------------------------------------------------------------------

def npy(values, shape, kind="<f8"):
    head = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (kind, shape)
    head += " " * (-(len(head) + 11) % 64) + "\n"
    if kind.startswith("<U"):
        body = b"".join(v.ljust(int(kind[2:]), "\0").encode("utf-32-le") for v in values)
    else:
        body = struct.pack("<%d%s" % (len(values), {"<f8": "d", "<i8": "q"}[kind]), *values)
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + body


POINTS = npy([v for x, _ in FLOWERS for v in x], "(45, 3)")
TURNED = npy([x[j] for j in range(3) for x, _ in FLOWERS], "(3, 45)")
CODES = npy([code(y) for _, y in FLOWERS], "(45,)", "<i8")
WORDS = npy([y for _, y in FLOWERS], "(45,)", "<U10")


def npz(**arrays):
    def write(path):
        with zipfile.ZipFile(path, "w") as z:
            for name, content in arrays.items():
                z.writestr(name + ".npy", content)
    return write


# ---- the files --------------------------------------------------------------------------------------------------------

PLAIN = "45 points, 3 features, 3 classes"
FOUR = "45 points, 4 features, 3 classes"
COLOURS = ["red", "green", "blue"]
CASES = [
    ("iris.csv", "header, label last", table(), [PLAIN]),
    ("noheader.csv", "no header, label last", table(None), [PLAIN]),
    ("target.csv", "label in the middle, called target", table(["length", "target", "width", "petal"],
     lambda i, x, y: [x[0], y, x[1], x[2]]), [PLAIN]),
    ("codes.csv", "classes as numbers 0, 1, 2", table(row=lambda i, x, y: x + [code(y)]), [PLAIN]),
    ("first.csv", "label first, as words", table(["species"] + HEAD[:3], lambda i, x, y: [y] + x),
     ["!'setosa' is not a number; this column looks like the label: --label species"]),
    ("uci.csv", "label first, as numbers, no header", table(None, lambda i, x, y: [code(y) + 1] + x[:2] + [1000 + 17 * i]),
     ["!45 different numbers in 45 rows: measurements, it seems, not classes; column 1 looks like the label: --label 1"]),
    ("middle.csv", "label in the middle, any name", table(["length", "kind", "width", "petal"],
     lambda i, x, y: [x[0], y, x[1], round(x[2] + i / 100, 2)]), ["!this column looks like the label: --label kind"]),
    ("price.csv", "a target to be predicted, no classes", table(HEAD[:3] + ["price"],
     lambda i, x, y: x + [round(120 + 7.31 * i, 2)]),
     ["!45 different numbers in 45 rows: measurements, it seems, not classes"]),
    ("pandas.csv", "pandas' index as first column", table([""] + HEAD, lambda i, x, y: [i] + x + [y]),
     ["column 1 (x1) numbers the rows and is left out; --index-column none keeps it", PLAIN]),
    ("twice.csv", "an index saved twice", table(["Unnamed: 0"] + HEAD, lambda i, x, y: [(i * 7) % 45] + x + [y]),
     ["column 1 (Unnamed: 0) numbers the rows and is left out", PLAIN]),
    ("count.csv", "a column 1, 2, 3, ...", table(["nr"] + HEAD, lambda i, x, y: [i + 1] + x + [y]),
     ["column 1 (nr) numbers the rows and is left out", PLAIN]),
    ("id.csv", "an identifier", table(["id"] + HEAD, lambda i, x, y: [9000 + (i * 77) % 991] + x + [y]),
     ["if it is an identifier, leave it out with --drop id", FOUR]),
    ("patients.csv", "an identifier of another name",
     table(["patient_id"] + HEAD, lambda i, x, y: [9000 + (i * 77) % 991] + x + [y]),
     ["if it is an identifier, leave it out with --drop patient_id", FOUR]),
    ("acid.csv", "no identifier", table(["acid"] + HEAD, lambda i, x, y: [9000 + (i * 77) % 991] + x + [y]), [FOUR]),
    ("r.csv", "R, write.csv", table([quoted(h) for h in [""] + HEAD],
     lambda i, x, y: [quoted(i + 1)] + x + [quoted(y)]), ["numbers the rows and is left out", PLAIN]),
    ("r.txt", "R, write.table: one name less than columns", table([quoted(h) for h in HEAD],
     lambda i, x, y: [quoted(i + 1)] + x + [quoted(y)], " "), ["numbers the rows and is left out", PLAIN]),
    ("semicolon.csv", "semicolons", table(separator=";"), [PLAIN]),
    ("excel.csv", "Excel in most of Europe: semicolons, decimal commas", table(separator=";").replace(".", ","),
     ["!is not a number; it has a decimal comma: read such a file with --decimal ,"]),
    ("tab.tsv", "tabs", table(separator="\t"), [PLAIN]),
    ("blanks.dat", "blanks", table(None, separator="  "), [PLAIN]),
    ("bar.csv", "vertical bars", table(separator="|"), [PLAIN]),
    ("bom.csv", "byte-order mark, Windows line ends", "\ufeff" + table(end="\r\n"), [PLAIN]),
    ("mac.csv", "old Macintosh line ends", table(end="\r"), [PLAIN]),
    ("quotes.csv", "quoted text with commas in it", table(row=lambda i, x, y: x + [quoted(y + ", wild")]), [PLAIN]),
    ("comments.csv", "comment lines before the header", "# measured in May\n# in cm\n" + table(), [PLAIN]),
    ("packed.csv.gz", "gzipped", gzip.compress(table().encode()), [PLAIN]),
    ("dates.csv", "a column of dates", table(["day"] + HEAD, lambda i, x, y: ["2024-03-%02d" % (i % 28 + 1)] + x + [y]),
     ["!'2024-03-01' is not a number; it looks like a date or a time: leave it out with --drop day"]),
    ("true.csv", "a column of True and False", table(["wild"] + HEAD, lambda i, x, y: [i % 2 == 0] + x + [y]), [FOUR]),
    ("colour.csv", "a column of categories", table(["colour"] + HEAD, lambda i, x, y: [COLOURS[(i * 7) % 3]] + x + [y]),
     ["!'red' is not a number; --encode onehot turns columns of words into 0/1 columns, --drop colour leaves them out"]),
    ("adult.csv", "categories, no header", table(None, lambda i, x, y: [x[0], COLOURS[i % 2], x[1], ["a", "b"][i % 2], y]),
     ["!'red' is not a number; --encode onehot turns columns of words into 0/1 columns, --drop 2,4 leaves them out"]),
    ("customers.csv", "words in several columns, the label in the middle, empty cells", table(["age", "city", "risk", "score", "noise"],
     lambda i, x, y: ["" if i == 9 else x[0], ["Madrid", "Rome", "Oslo", "Bonn"][i % 4], y, x[1], x[2] + i / 100]),
     ["!columns of words: city (4 different), risk (3); name the label, encode the other, fill in empty cells: "
      "--label risk --encode onehot --missing mean"]),
    ("gaps.csv", "empty fields", table(row=lambda i, x, y: ([""] + x[1:] if i == 4 else x) + [y]),
     ["!a value is missing; --missing drop leaves such rows out, --missing mean fills in the column's mean"]),
    ("stray.csv", "one slip of the pen", table(row=lambda i, x, y: (["5,1x"] + x[1:] if i == 4 else x) + [y], separator=";"),
     ["!'5,1x' is not a number; the others of this column are numbers"]),
    ("short.csv", "a line too short", table().replace(",setosa\n", "\n", 1), ["!has 3 fields, but line 1 has 4"]),
    ("one.csv", "all rows of one class", table(row=lambda i, x, y: x + ["setosa"]), ["!all 45 rows are of one class"]),
    ("nolabel.csv", "numbers alone", table(["a", "b", "c"], lambda i, x, y: [v + i / 100 for v in x]),
     ["!measurements, it seems, not classes"]),
    ("flowers.svm", "svmlight", lines([[code(y)] + ["%d:%s" % (j + 1, v) for j, v in enumerate(x)] for x, y in FLOWERS], " "),
     [PLAIN]),
    ("weka.arff", "ARFF", "@relation r\n" + "".join("@attribute %s numeric\n" % h for h in HEAD[:3]) +
     "@attribute species {%s}\n@data\n" % ",".join(KINDS) + table(None), [PLAIN]),
    ("sklearn.npz", "NPZ of a scikit-learn bunch: data, target", npz(data=POINTS, target=CODES, target_names=npy(KINDS, "(3,)", "<U10")),
     [PLAIN]),
    ("savez.npz", "NPZ with X and y", npz(X=POINTS, y=WORDS), [PLAIN]),
    ("train.npz", "NPZ with X_train and y_train", npz(X_train=POINTS, y_train=WORDS), [PLAIN]),
    ("turned.npz", "NPZ with points as columns", npz(X=TURNED, y=WORDS), ["!a point is a row here; save the transpose"]),
    ("two.npz", "NPZ with two unknown matrices", npz(a=POINTS, b=POINTS),
     ["!there is more than one matrix of numbers; the file holds a (45 x 3), b (45 x 3): say which with --variable NAME"]),
    ("points.npy", "NPY without labels", POINTS, ["!there are no labels"]),
    ("book.xlsx", "Excel", b"PK\x03\x04", ["!is an Excel workbook, which bdml does not read; save it as CSV"]),
    ("frame.parquet", "Parquet", b"PAR1", ["!is a Parquet file, which bdml does not read"]),
    ("frame.pkl", "pickle", b"\x80\x04\x95", ["!is a Python pickle, which bdml does not read"]),
    ("page.csv", "a web page saved as data", "\n<!doctype HTML>\n<html><body>Not found</body></html>\n",
     ["!is a web page (HTML), which bdml does not read"]),
    ("store.h5", "HDF5", b"\x89HDF\r\n\x1a\n", ["!is an HDF5 file, which bdml does not read"]),
]


def write(path, content):
    if callable(content):
        content(path)
    else:
        with open(path, "wb") as f:
            f.write(content if isinstance(content, bytes) else content.encode())


def train(bdml, name):
    """What it says: warnings, then the error or the line about the data; and the exit status."""
    done = subprocess.run([bdml, "train", name, "-o", "m.bdml"], capture_output=True, text=True)
    said = [line[len("bdml: "):] for line in done.stderr.splitlines() if line.startswith("bdml: ")]
    said = [line for line in said if not re.match(r"[a-z -]+: [0-9]+ %", line)]  # progress
    said += [line[len("data"):].strip() for line in done.stdout.splitlines() if line.startswith("data ")]
    return said, done.returncode


def main():
    bdml = os.path.abspath(sys.argv[1])
    page = ["| file | what it is | what `bdml train FILE` says |", "|---|---|---|"]
    failed, home = 0, os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, what, content, wanted in CASES:
            write(name, content)
            said, status = train(bdml, name)
            text = " / ".join(said)
            page.append("| `%s` | %s | %s |" % (name, what, text.replace(name + ": ", "").replace("|", "\\|")))
            if "this bdml was built without" in text:
                continue
            bad = [w for w in wanted if w.lstrip("!") not in text]
            refused = any(w.startswith("!") for w in wanted)
            if bad or status != (2 if refused else 0):
                print("FAILED: %s: status %d, said: %s" % (name, status, text))
                for w in bad:
                    print("    lacks: %s" % w)
                failed += 1
        os.chdir(home)
    if len(sys.argv) > 2:
        with open(sys.argv[2], "w") as f:
            f.write("\n".join(page) + "\n")
    print("%d ordinary files, %d failed" % (len(CASES), failed))
    sys.exit(failed > 0)


main()
