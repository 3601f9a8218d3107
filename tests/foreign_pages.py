#!/usr/bin/env python3
"""Text and numbers of others in pages and pictures: foreign_pages.py BDML SOURCE

Results as eval, path, train, info, retrieve, adapt and verify write them, with every text in them replaced by markup,
script, ends of elements, half characters and characters that XML has not, and every number by ones at the ends of the
range, through `bdml report` and every figure of `bdml plot`. SVG is read by an XML parser; in the page no element and
no handler may come out of a text, and where Chromium is installed it opens page and pictures: no script of a text has
run when their titles are what they were.
"""
import base64
import hashlib
import html.parser
import json
import os
import re
import shutil
import subprocess
import sys
import xml.dom.minidom

BDML, SOURCE = sys.argv[1:3]
SCRIPT = "document.title='OWNED'"
MARKUP = "".join([
    "</script><script>%s</script>" % SCRIPT, "<!--<script>", "\"onload=\"%s\" x=\"" % SCRIPT, "javascript:" + SCRIPT,
    "]]>", "<![CDATA[", "&lt;script&gt;&#60;i&#62;&bogus;", "\u2028\u2029", "\x01\x1b[2J\x7f\x85", "\ufffe\uffff",
    "\U0001ffff", "</title></style></svg><img src=x onerror=\"%s\">" % SCRIPT, "'>\"><svg onload=%s>" % SCRIPT,
    "a\r\nb", "%s%n%d", "\u202e"])
HALVES = ["a" * k + "é" * 400 for k in range(2)] + ["a" * k + "😀" * 200 for k in range(4)]  # cut anywhere
NUMBERS = [[1e308], [1e308, -1e308], [5e-324], [5e-324, 1e308], [1e308, 1], [0], [-1], [2**62, -2**62], [1, 1e17]]
FIGURES = {"eval": "errors", "path": "path bracket walk", "train": "features view spectrum convergence ellipsoids",
           "hard": "suspects", "info": "features spectrum ellipsoids", "retrieve": "unseen", "adapt": "errors",
           "verify": "roc errors"}
passed = failed = 0


def check(good, *what):
    global passed, failed
    passed += bool(good)
    failed += not good
    if not good:
        print("FAILED:", *[str(w)[:300] for w in what])


def make(name, *arguments):
    p = subprocess.run([BDML, *arguments, "--quiet", "--json"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    run = json.loads(p.stdout)
    check("methods" in run or "path" in run or "spectrum" in run or "proof" in run, name, "gave", p.stdout[:200])
    return run


def change(o, text, number):
    if isinstance(o, dict):
        return {k: change(v, text, number) for k, v in o.items()}
    if isinstance(o, list):
        return [change(v, text, number) for v in o]
    if isinstance(o, str):
        return text() if text else o
    if isinstance(o, (int, float)) and not isinstance(o, bool):
        return number() if number else o
    return o


def turns(values):
    """The next of them at each call, round and round."""
    state = {"k": -1}

    def one():
        state["k"] += 1
        return values[state["k"] % len(values)]
    return one


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.scripts, self.foreign = 0, []

    def handle_starttag(self, tag, attributes):
        self.scripts += tag == "script" and ("type", "application/json") not in attributes
        if tag in ("img", "i", "iframe", "object") or any(k.startswith("on") for k, _ in attributes):
            self.foreign.append((tag, attributes))


def written(name, command, out):
    if os.path.exists(out):
        os.remove(out)
    try:
        p = subprocess.run([BDML, *command, "-q", "-o", out], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                           timeout=30)
    except subprocess.TimeoutExpired:
        check(False, name, command, "does not end")
        return None
    check(p.returncode in (0, 1, 2) and (p.returncode == 0) == os.path.exists(out) and
          p.stderr.count(b"\n") == (p.returncode != 0), name, command, "exit", p.returncode, p.stderr)
    if p.returncode != 0:
        return None
    with open(out, "rb") as f:
        made = f.read()
    check(len(made) < 40 * os.path.getsize("changed.json") + 200000, name, command, "writes", len(made), "bytes")
    try:
        return made.decode()
    except UnicodeDecodeError as e:
        check(False, name, command, "is not UTF-8:", e, made[max(0, e.start - 40):e.start + 20])
        return None


def try_run(name, run):
    with open("changed.json", "w", encoding="utf-8") as f:
        json.dump(run, f)
    text = written(name, ["report", "changed.json"], "page.html")
    if text is not None:
        page = Page()
        page.feed(text)
        check(page.scripts == 1 and not page.foreign, name, "has on its page", page.scripts, page.foreign)
    for figure in FIGURES[name.split()[0]].split():
        text = written(name, ["plot", "changed.json", "--figure", figure], "picture.svg")
        if text is None:
            continue
        try:
            xml.dom.minidom.parseString(text.encode())
        except Exception as e:
            check(False, name, figure, "is not XML:", e)
        numbers = re.search(r'="[^"<]*(?<![a-z])-?(?:nan|inf)(?![a-z])', text)
        check(not numbers, name, figure, "is drawn at", numbers and numbers.group())


def title_in_browser(path):
    p = subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=3000",
                        "--dump-dom", "file://" + os.path.abspath(path)], stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, timeout=120)
    found = re.search(r"<title>([^<]*)</title>", p.stdout.decode(errors="replace"))
    return found.group(1) if found else ""


data = [os.path.join(SOURCE, "data", name) for name in ("wine.csv", "iris.csv", "segment.csv")]
with open("pairs.csv", "w") as f:
    f.writelines("%d,%d,1\n%d,%d,0\n" % (i, i + 1, i, (i + 60) % 178) for i in range(1, 170))
plain = ("--scale", "zscore", "--reference", "none")
RUNS = {
    "eval": make("eval", "eval", data[0], "--methods", "euclidean,bdml", "--splits", "3", "--distortion", "10",
                 "--softness", "5", "--passes", "1", *plain),
    "path": make("path", "path", data[0], "--splits", "2", "--grid", "1,3,10", *plain),
    "train": make("train", "train", data[0], "--distortion", "10", "--softness", "5", "--passes", "1", "-o",
                  "wine.bdml", *plain),
    "hard": make("hard", "train", data[1], "--scale", "zscore", "--hard", "--distortion", "10", "-o", "iris.bdml"),
    "info": make("info", "info", "wine.bdml"),
    "retrieve": make("retrieve", "retrieve", data[2], "--scale", "zscore", "--grid", "1,10", "--splits", "2",
                     "--passes", "1"),
    "adapt": make("adapt", "adapt", "--source", data[0], "--target", data[0], "--methods", "euclidean,lda",
                  "--trials", "2"),
    "verify": make("verify", "verify", data[0], "--scale", "zscore", "--pairs-file", "pairs.csv", "--methods",
                   "euclidean,whiten", "--folds", "2"),
}
for key, value in RUNS.items():
    try_run(key + " with markup", change(value, lambda: MARKUP, None))
    try_run(key + " with half characters", change(value, turns(HALVES), None))
    for numbers in NUMBERS:
        try_run("%s with %s" % (key, numbers), change(value, None, turns(numbers)))

# A name with an end of line and a command in it, in the line that is there to be pasted into a shell.
name = "x.csv\n$(touch owned); 'touch owned'"
with open("changed.json", "w") as f:
    json.dump({**RUNS["train"], "data": name, "model": name}, f)
page = written("shell", ["report", "changed.json"], "page.html")
line = html.unescape(re.search(r"<pre>(bdml certify.*?)</pre>", page, re.S).group(1))
said = subprocess.run(["sh", "-c", "bdml() { printf '%s|' \"$@\"; }\n" + line], stdout=subprocess.PIPE)
check(said.stdout.decode() == "certify|%s|%s|" % (name, name), "the line to paste", line)
check(not os.path.exists("owned"), "the line to paste runs", line)

# The page's own script is the one that its policy names: another sum, and no browser would run it.
own = re.search(r"<script>(.*)</script>\n</body>", page, re.S).group(1)
check("script-src 'sha256-%s'" % base64.b64encode(hashlib.sha256(own.encode()).digest()).decode() in page, "the sum of the script")

# What no reader of JSON should take; and names of a million characters.
for text in ("[" * 100000, '{"methods": [NaN]}', '{"methods": [{"method": "a", "error_mean": 1e999}]}',
             '{"path": [{"kappa": Infinity}]}', '{"methods": "\\ud800"}', '{"data": "\\u0000"}'):
    with open("changed.json", "w") as f:
        f.write(text)
    check(written(text[:60], ["report", "changed.json"], "page.html") is None, text[:60], "is taken")
for key in ("eval", "train", "hard", "verify"):
    long = change(RUNS[key], turns(["<" * 1000000] + ["b"] * 7), None)
    try_run(key + " with long names", long)

if shutil.which("chromium"):
    with open("changed.json", "w") as f:
        json.dump({"runs": [change(run, lambda: MARKUP, None) for run in RUNS.values()]}, f)
    page = written("all", ["report", "changed.json"], "page.html")
    got = title_in_browser("page.html")
    check(got.startswith("bdml: "), "a script of a text ran on the page; its title is", got)
    with open("forced.html", "w", encoding="utf-8") as f:  # and were there a hole: the page lets only its own script run
        f.write(page.replace("<main>", "<main><img src=x onerror=\"%s\"><script>%s</script>" % (SCRIPT, SCRIPT)))
    got = title_in_browser("forced.html")
    check(got.startswith("bdml: "), "a script that is not the page's own ran; the title is", got)
    for figure in ("errors", "features", "view", "walk"):
        picture = written("all", ["plot", "changed.json", "--figure", figure], "picture.svg")
        with open("inside.html", "w", encoding="utf-8") as f:
            f.write("<!DOCTYPE html><title>plain</title>" + picture.split("?>", 1)[1])
        got = title_in_browser("inside.html")
        check(got == "plain", "a script of a text ran in the picture", figure, got)
else:
    print("left out: what Chromium makes of it (Debian: chromium)")

print("cases: %d passed, %d failed" % (passed, failed))
sys.exit(failed > 0)
