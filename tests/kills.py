#!/usr/bin/env python3
"""Killed at any moment, does it go on to the same end?  kills.py BDML DATA_FOLDER [KILLS]

Runs train with checkpoints, eval and reproduce, kills each with SIGKILL at a random time, looks at what is left (the old file or a
whole new one, a checkpoint that can be read), and goes on, up to three times killed again; then lets it come to its end and
compares with the run that nobody killed: the map and the description of the model, the cells of the study, the result of eval,
byte for byte but for times. Temporary files of the killed must be gone by then. KILLS in all (default 500). Ends with the counts.
"""
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

BDML, DATA = (os.path.abspath(p) for p in sys.argv[1:3])
KILLS = int(sys.argv[3]) if len(sys.argv) > 3 else 500
OLD = b"what was there before\n"


def bdml(*arguments, after=None):
    """Exit code and standard output; killed after that many seconds: None."""
    p = subprocess.Popen([BDML, *arguments, "--threads", "1"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE)
    try:
        out, err = p.communicate(timeout=after)
    except subprocess.TimeoutExpired:
        p.kill()
        p.communicate()
        return None, b""
    if p.returncode != 0:
        raise SystemExit("bdml %s: exit %d: %s" % (" ".join(arguments), p.returncode, err.decode()))
    return p.returncode, out


def untimed(value):
    """Without what a clock decides, and where the files lie."""
    if isinstance(value, dict):
        return {k: untimed(v) for k, v in value.items()
                if "seconds" not in k and k not in ("time", "times", "command_line", "checkpoint", "resume", "every", "file_bytes")}
    return [untimed(v) for v in value] if isinstance(value, list) else value


# ---- the works: each begins or goes on, tells its result, and what must hold in between

class Train:
    settings = ["--passes", "2"]

    def run(self, after):
        more = ["--resume", "ck"] if os.path.exists("ck") else []
        if not os.path.exists("m.bdml"):
            with open("m.bdml", "wb") as f:
                f.write(OLD)
        return bdml("train", self.data, "--checkpoint", "ck", "--every", "0", "-o", "m.bdml", "-q", *self.settings, *more, after=after)

    def check(self):
        with open("m.bdml", "rb") as f:
            if f.read() != OLD:
                bdml("info", "m.bdml")  # a whole model

    def result(self):
        bdml("export", "m.bdml", "-o", "l.npy", "-q")
        with open("l.npy", "rb") as f:
            return f.read(), untimed(json.loads(bdml("info", "m.bdml", "--json")[1]))


class TrainWine(Train):
    data = os.path.join(DATA, "wine.csv")


class TrainEngine(Train):
    data = os.path.join(DATA, "segment.csv")
    settings = ["--rule", "nearest", "--reference", "zscore", "--distortion", "100", "--softness", "10", "--gap", "1e-5"]


class Eval:
    def run(self, after):
        code, self.out = bdml("eval", os.path.join(DATA, "iris.csv"), "--methods", "euclidean,lda,bdml", "--splits", "3", "--json",
                              after=after)
        return code, self.out

    def check(self):
        pass

    def result(self):
        return untimed(json.loads(self.out))


class Reproduce:
    def run(self, after):
        return bdml("reproduce", "distortion", os.path.join(DATA, "iris.csv"), "--quick", "--splits", "2", "--results", ".",
                    "--page", "page.md", "-q", after=after)

    def check(self):
        if os.path.exists("distortion.json"):
            with open("distortion.json") as f:
                json.load(f)

    def result(self):
        with open("distortion.json") as f, open("page.md") as page:
            return untimed(json.load(f)), len(page.read()) > 100


def main():
    r = random.Random(1)
    top = tempfile.mkdtemp(prefix="bdml-kills-")
    works = [TrainWine, TrainEngine, Reproduce, Eval]
    reference, takes, counts, resumed = {}, {}, {}, 0
    failed = 0
    for work in works:
        folder = os.path.join(top, work.__name__)
        os.mkdir(folder)
        os.chdir(folder)
        w, began = work(), time.time()
        w.run(None)
        takes[work] = time.time() - began
        reference[work] = w.result()
    done = number = 0
    while done < KILLS:
        work = works[number % len(works)]
        number += 1
        folder = os.path.join(top, "run")
        os.mkdir(folder)
        os.chdir(folder)
        w = work()
        for _ in range(r.randint(1, 4)):
            code, out = w.run(r.random() * takes[work])
            if code is not None:
                break  # it was done before
            done += 1
            counts[work] = counts.get(work, 0) + 1
            w.check()
            resumed += os.path.exists("ck") or os.path.exists("distortion.json")
        w.run(None)
        left = [n for n in os.listdir(".") if ".bdml-tmp-" in n]
        if w.result() != reference[work] or left:
            failed += 1
            print("FAILED: run %d, %s: %s" % (number, work.__name__, left or "another result"), flush=True)
        os.chdir(top)
        shutil.rmtree(folder)
    shutil.rmtree(top)
    print("%d kills: %s; %d runs came to their end, %d times there was something to go on from" % (
        done, ", ".join("%d in %s" % (v, k.__name__) for k, v in counts.items()), number, resumed))
    print("cases: %d passed, %d failed" % (number - failed, failed))
    return failed > 0


sys.exit(main())
