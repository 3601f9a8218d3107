#!/usr/bin/env python3
"""Nothing that a file or a name says reaches a terminal raw: foreign_text.py BDML BDML_CHECK SOURCE

Class names, feature names and file names with escapes, carriage returns, C1 controls, marks that turn writing round and
bytes that are no UTF-8, through every command, on a terminal (a pty) and through pipes; and names that a spreadsheet would run.
"""
import json
import os
import pty
import re
import subprocess
import sys
import zlib

BDML, CHECK, SOURCE = sys.argv[1:4]
EVIL = b"\x1b]0;owned\x07\x1b[2Jx\ry\xc2\x9b31m\xe2\x80\xae\xffz"
# the bar of progress is the command's own; the terminal driver turns \n into \r\n
OWN = re.compile(rb"\r\x1b\[K|\r\n|\x1b\[1m|\x1b\[0m")
OBEYED = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]|\xe2\x81[\xa6-\xa9]")
passed = failed = 0


def check(good, *what):
    global passed, failed
    passed += bool(good)
    failed += not good
    if not good:
        print("FAILED:", *what)


def raw(said):
    """What of it a terminal would obey, or cannot read."""
    said = OWN.sub(b"\n", said)
    found = OBEYED.search(said)
    if found:
        return said[max(0, found.start() - 40):found.end() + 20]
    try:
        said.decode()
    except UnicodeDecodeError as e:
        return said[max(0, e.start - 40):e.end + 20]
    return None


def on_terminal(command):
    parent, child = pty.openpty()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=child, stderr=child)
    os.close(child)
    said = b""
    while True:
        try:
            part = os.read(parent, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        said += part
    os.close(parent)
    return process.wait(), said


def run(*arguments, code=0, program=BDML, shows=None):
    command = [program.encode()] + [a if isinstance(a, bytes) else a.encode() for a in arguments]
    ended, said = on_terminal(command)
    check(ended == code, arguments, "exit", ended, said[-300:])
    check(raw(said) is None, arguments, "on a terminal:", raw(said))
    if shows:
        check(shows in said, arguments, "does not show", shows, said[-300:])
    return said


def through_pipe(*arguments):
    p = subprocess.run([BDML.encode()] + [a if isinstance(a, bytes) else a.encode() for a in arguments],
                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    check(raw(p.stderr) is None, arguments, "on standard error:", raw(p.stderr))
    return p.stdout


def rows(path, column, names, n=60):
    with open(path, "wb") as f:
        f.write(b'"' + column + b'",=b,c,class\n')
        for i in range(n):
            k = i % len(names)
            f.write(b"%d.%d,%d,%d," % (k, (7 * i) % 10, (3 * i) % 11, (5 * i + k) % 7) + b'"' + names[k] + b'"\n')


# ---- terminals
data = b"d" + EVIL.replace(b"/", b"") + b".csv"
model = b"m" + EVIL + b".bdml"
rows(data, EVIL, [EVIL, b"plain", "é".encode() + EVIL, b"d"])
with open("pairs" + EVIL.decode("latin-1"), "w") as f:
    f.writelines("%d,%d,1\n%d,%d,0\n" % (i, i + 3, i, i + 1) for i in range(1, 40))
pairs = ("pairs" + EVIL.decode("latin-1")).encode()
SHOWN = b"\\x1b]0;owned\\x07"
run("info", data, shows=SHOWN)
run("train", data, "-o", model, shows=SHOWN)
run("info", model, shows=SHOWN)
run("info", model, "--all")
run("info", model, "--json")
run("predict", model, data, shows=SHOWN)
said = run("predict", model, data, "--neighbors", "1", shows="é".encode())
run("transform", model, data, shows=SHOWN)
run("neighbors", data, "--model", model)
run("eval", data, "--methods", "euclidean,lda", "--splits", "2", "--json")
run("eval", data, "--methods", "euclidean,lda", "--splits", "2", "-v", shows=SHOWN)
run("path", data, "--splits", "2", shows=SHOWN)
run("retrieve", data, "--methods", "whiten", "--splits", "1", shows=SHOWN)
run("verify", data, "--pairs-file", pairs, "--methods", "euclidean", "--folds", "2", shows=SHOWN)
run("certify", model, data)
run("convert", data, "-", shows=SHOWN)
run("convert", data, b"o" + EVIL + b".tsv", shows=SHOWN)
run("export", model, "-o", b"e" + EVIL + b".csv", shows=SHOWN)
run("export", model, data, "--certificate", "-o", b"c" + EVIL, shows=SHOWN)
run("export", model, "-o", "-")
run("import", b"e" + EVIL + b".csv", "-o", b"i" + EVIL, shows=SHOWN)
run("drift", model, data, shows=SHOWN)
run("adapt", "--source", data, "--target", data, "--methods", "euclidean", "--trials", "1", shows=SHOWN)
run("compare-solvers", data, "--scale", "zscore", "--kind", "pair", "--rounds", "20", shows=SHOWN)
run("bound", "generalization", model, data)
with open("run.json", "wb") as f:
    f.write(through_pipe("eval", data, "--methods", "lda", "--splits", "2", "--json"))
run("report", "run.json", "-o", b"r" + EVIL + b".html", shows=SHOWN)
run("plot", "run.json", "-o", b"p" + EVIL + b".svg", shows=SHOWN)
run(b"c" + EVIL, program=CHECK)

# ---- errors
run("info", b"none" + EVIL, code=2, shows=SHOWN)
run(EVIL, code=2, shows=SHOWN)
run("info", data, b"--" + EVIL, code=2, shows=SHOWN)
run("info", data, "--label", EVIL, code=2, shows=SHOWN)
run("train", data, "--method", EVIL, code=2, shows=SHOWN)
run("train", data, "--gap", EVIL, code=2, shows=SHOWN)
run("train", data, "-o", b"no" + EVIL + b"/x", code=2, shows=SHOWN)
run("train", data, "--drop", EVIL + b"?", code=2)
run("help", EVIL, code=2, shows=SHOWN)
run("predict", data, model, code=2, shows=SHOWN)
run(data, program=CHECK, code=2, shows=SHOWN)
with open("bad.csv", "wb") as f:
    f.write(b'a,class\n1,x\n"' + EVIL + b'",y\n3,x\n')
run("train", "bad.csv", code=2, shows=SHOWN)
said = through_pipe("train", data, "--method", EVIL, "--json")
check(raw(said) is None, "an error as JSON", raw(said))

# ---- a pipe is for programs: names stay as they are, byte for byte
said = through_pipe("predict", model, data, "-q")
check(EVIL.replace(b"\r", b"\n") in said, "predict changes names in a pipe", said[:200])  # an end of line is \n in CSV

# ---- spreadsheets
formulas = [b"=1+1", b"@x", b"-cmd|' /C calc'!A0", b"+a"]
plain = [b"-1", b"+", b"-2.5e3", b"a=b"]
rows("sheet.csv", b"a", formulas + plain, 80)


def classes(path):
    with open(path, "rb") as f:
        return set(line.rstrip(b"\n").rsplit(b",", 1)[-1].strip(b'"') for line in f.readlines()[1:])


through_pipe("convert", "sheet.csv", "same.csv")
check(classes("same.csv") == set(formulas + plain), "convert changes names", classes("same.csv"))
through_pipe("convert", "sheet.csv", "safe.csv", "--csv-safe")
check(classes("safe.csv") == set([b"'" + x for x in formulas] + plain), "convert --csv-safe", classes("safe.csv"))
check(open("safe.csv", "rb").readline().split(b",")[1] == b"'=b", "--csv-safe and names of columns")
through_pipe("train", "sheet.csv", "--method", "lda", "-o", "sheet.bdml")
options = ("predict", "sheet.bdml", "sheet.csv", "-k", "1", "-o", "answers.csv")
through_pipe(*options)
safe = classes("answers.csv")
check(safe and not any(x[:1] in b"=@" for x in safe) and any(x[:2] == b"'=" for x in safe), "predict -o", safe)
through_pipe(*options, "--no-csv-safe")
check(any(x[:1] == b"=" for x in classes("answers.csv")), "predict --no-csv-safe")
through_pipe("transform", "sheet.bdml", "sheet.csv", "-o", "z.csv", "--csv-safe")
check(not any(x[:1] in b"=@" for x in classes("z.csv")), "transform --csv-safe", classes("z.csv"))

# ---- a model that says of itself what none does, with the checksum put right
def forge(source, target, change):
    with open(source, "rb") as f:
        old = f.read()
    size = int.from_bytes(old[16:24], "little")
    header = json.loads(old[32:32 + size])
    moved = min(a["offset"] for a in header["arrays"])
    room = (len(json.dumps(header)) + 1000000) // 64 * 64 + 32  # for what is changed; arrays stand at multiples of 64
    for a in header["arrays"]:
        a["offset"] += 32 + room - moved
    change(header)
    new = old[:16] + room.to_bytes(8, "little") + bytes(8) + json.dumps(header).encode().ljust(room) + old[moved:-4]
    new = new[:24] + (len(new) + 4).to_bytes(8, "little") + new[32:]
    with open(target, "wb") as f:
        f.write(new + zlib.crc32(new).to_bytes(4, "little"))


forge(model, "list.bdml", lambda o: o.update(history=["a"] + [1] * 100000))
check(b"1" in run("info", "list.bdml", "--all"), "info --all of a list that is no names")
forge(model, "settings.bdml", lambda o: o.update(settings={"scale": 3, "seed": ["x"], "kind": "\x1b[2J"}))
run("info", "settings.bdml", shows=b"\\x1b[2J")
forge(model, "numbers.bdml", lambda o: o.update(training_points="many", selection={"by": "x", "passes": "y"}))
run("info", "numbers.bdml")
run("report", "numbers.bdml", "-o", "numbers.html")
forge(model, "data.bdml", lambda o: o.update(data="x.csv; touch owned", certificate={"status": "optimal"}))
run("info", "data.bdml", shows=b"certify data.bdml 'x.csv; touch owned'")

# ---- the source: a %s of the command is printed by client_print, but where the text is the program's own
OURS = {"completion.c", "help.c", "help_formats.c", "json.c", "line.c", "man.c", "settings.c", "spectrum.c", "table.c"}
CALL = re.compile(r'(?<![a-z_])f?printf\(\s*(?:\w+,\s*)?((?:"(?:[^"\\]|\\.)*"|\s|PRI\w+)+)')
for name in sorted(os.listdir(os.path.join(SOURCE, "cli"))):
    if name.endswith(".c") and name not in OURS:
        with open(os.path.join(SOURCE, "cli", name), encoding="utf-8") as f:
            text = f.read()
        for call in CALL.finditer(text):
            line = text.count("\n", 0, call.start()) + 1
            check(not re.search(r"%[-+ #0-9.*]*s", call.group(1)),
                  "cli/%s:%d prints text by printf: client_print shows what a terminal would obey" % (name, line))

print("cases: %d passed, %d failed" % (passed, failed))
sys.exit(failed > 0)
