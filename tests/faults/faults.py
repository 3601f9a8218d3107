#!/usr/bin/env python3
"""Does every failure of memory and files end well?  faults.py BDML FAIL_ALLOC_SO [--whole | RUNS] [NAME...]

Runs commands over small data, each once for every (or, sampled, for some) n with a fault in the n-th
    allocation                              (fail_alloc.c, preloaded)
    openat, write, fsync, rename, close     (strace -e inject; left out where strace is not there)
of the program's own, wherever in the process it is asked for: bdml, jansson, matio, libzip, zlib, LAPACKE, the C library.
A run must end by itself, and then either
    exit 0: what it wrote is what it writes without the fault, byte for byte (a model: it loads), or
    exit 1 or 2: one line "bdml: ..." says why, and the file that was there before is as it was, or the whole new one,
and in either case no temporary file is left and no block of memory more than without the fault.
Ends with the counts; RUNS is about how many runs in all (default 250).
"""
import atexit
import concurrent.futures
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading

BDML, PRELOAD = (os.path.abspath(p) for p in sys.argv[1:3])
WHOLE = "--whole" in sys.argv
RUNS = next((int(a) for a in sys.argv[3:] if a.isdigit()), 250)
ONLY = [a for a in sys.argv[3:] if not a.isdigit() and a != "--whole"]
OLD = b"what was there before\n"
ENGINE = "--rule nearest --reference none --distortion 10 --softness 10 --scale zscore"
# name, arguments, the file it writes; {x} are files made below. Times are kept out of what is compared: -q, no --json of fits.
COMMANDS = [
    ("train, method of its own", "train small.csv --method lda -o out.bdml -q", "out.bdml"),
    ("train, engine", "train small.csv %s -o out.bdml -q" % ENGINE, "out.bdml"),
    ("train, checkpoints", "train small.csv %s --checkpoint ck --every 0 -o out.bdml -q" % ENGINE, "out.bdml"),
    ("train, proof of infeasibility", "train twice.csv --hard --reference none --targets 1 --impostors 1 -o out -q", "out.proof"),
    ("train, pairs", "train small.csv --method itml --pairs-file pairs.csv --max-iter 5 -o out.bdml -q", "out.bdml"),
    ("predict", "predict m.bdml small.csv -o out.csv -q", "out.csv"),
    ("predict, JSON", "predict m.bdml small.csv --json", None),
    ("predict, pairs", "predict m.bdml small.csv --pairs pairs.csv -o out.csv -q", "out.csv"),
    ("transform, CSV", "transform m.bdml small.csv -o out.csv -q", "out.csv"),
    ("transform, NPY", "transform m.bdml small.csv -o out.npy -q", "out.npy"),
    ("neighbors", "neighbors small.csv -o out.csv -q", "out.csv"),
    ("certify", "certify e.bdml small.csv -q", None),
    ("eval", "eval small.csv --methods euclidean,lda --splits 2 --json", None),
    ("verify", "verify small.csv --pairs-file pairs.csv --methods euclidean --folds 2 --plot out.svg --json", "out.svg"),
    ("convert, CSV to NPY", "convert small.csv out.npy -q", "out.npy"),
    ("convert, NPY to svmlight", "convert small.npy out.svm -q", "out.svm"),
    ("convert, MAT to TSV", "convert l.mat out.tsv --variable L -q", "out.tsv"),
    ("convert, gzip to CSV", "convert small.csv.gz out.csv -q", "out.csv"),
    ("info, data", "info small.csv", None),
    ("info, model", "info e.bdml --json", None),
    ("export, MAT", "export m.bdml -o out.mat -q", "out.mat"),
    ("export, ONNX", "export m.bdml -o out.onnx -q", "out.onnx"),
    ("export, certificate", "export e.bdml small.csv --certificate -o out.txt -q", "out.txt"),
    ("import", "import l.csv -o out.bdml -q", "out.bdml"),
    ("generate", "generate twonorm -n 10 -o out.csv -q", "out.csv"),
    ("report", "report run.json -o out.html -q", "out.html"),
    ("plot", "plot run.json -o out.svg -q", "out.svg"),
    ("drift", "drift m.bdml small.csv", None),
    ("bound", "bound generalization m.bdml small.csv -q", None),
    ("help", "help train --all", None),
]
SPARED = "spared"
SYSTEM = {"openat": "EMFILE", "write": "ENOSPC", "fsync": "EIO", "rename": "EXDEV", "close": "EIO"}
TIME = re.compile(rb'"[a-z_]*seconds[a-z_]*": *([-0-9.e+]+|\[[^\]]*\])')


def environment(**more):
    e = {k: v for k, v in os.environ.items() if k not in ("LD_PRELOAD", "LSAN_OPTIONS")}
    e.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", LC_ALL="C", **more)
    return e


def small_data():
    r = random.Random(7)
    with open("small.csv", "w") as f:
        f.write("a,b,c,class\n")
        for i in range(24):
            f.write("%.3f,%.3f,%.3f,%s\n" % (i % 2 + 0.4 * r.random(), r.random(), 3 * r.random(), "xy"[i % 2]))
    with open("twice.csv", "w") as f:  # a pair of the same class, and one of different classes in its place
        f.write("a,class\n0,x\n1,x\n0,y\n1,y\n")
    with open("pairs.csv", "w") as f:
        f.writelines("%d,%d,1\n%d,%d,0\n" % (i, i + 2, i, i + 1) for i in range(1, 20))
    for line in ("train small.csv --method lda -o m.bdml -q", "train small.csv %s -o e.bdml -q" % ENGINE,
                 "convert small.csv small.npy -q", "export m.bdml -o l.mat -q", "export m.bdml -o l.csv -q"):
        subprocess.run([BDML] + line.split(), check=True, env=environment())
    subprocess.run("gzip -k small.csv", shell=True, check=True)
    with open("run.json", "wb") as f:
        subprocess.run([BDML] + "eval small.csv --methods euclidean,lda --splits 2 --json".split(), check=True, stdout=f,
                       env=environment())


class Folder(threading.local):
    """A folder of its own for each worker, with the data in it."""

    def __init__(self):
        self.path = tempfile.mkdtemp(prefix="bdml-faults-")
        atexit.register(shutil.rmtree, self.path)
        for name in os.listdir(base):
            shutil.copy(os.path.join(base, name), self.path)
        self.names = set(os.listdir(self.path))

    def clear(self, output):
        for name in os.listdir(self.path):
            if name not in self.names:
                os.unlink(os.path.join(self.path, name))
        if output:
            with open(os.path.join(self.path, output), "wb") as f:
                f.write(OLD)


def started(command, prefix=(), **more):
    name, line, output = command
    folder.clear(output)
    p = subprocess.run(list(prefix) + [BDML] + line.split() + ["--threads", "1"], cwd=folder.path, stdin=subprocess.DEVNULL,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(**more), timeout=120)
    written = None
    if output:
        path = os.path.join(folder.path, output)
        written = open(path, "rb").read() if os.path.exists(path) else b""
    left = [n for n in os.listdir(folder.path) if ".bdml-tmp-" in n]
    return p.returncode, p.stdout, p.stderr, written, left


def counts(path):
    try:
        with open(path) as f:
            return [int(v) for v in f.read().split()]
    except (OSError, ValueError):
        return None


def same(command, reference, out, written):
    if command[2] and command[2].endswith((".bdml", ".proof")):  # a model says how long it took
        if written == OLD:
            return False
        return subprocess.run([BDML, "info", command[2]], cwd=folder.path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              env=environment()).returncode == 0
    return TIME.sub(b"", out) == TIME.sub(b"", reference[1]) and written == reference[3]


def judge(command, reference, fault, result, blocks):
    """None, or what is wrong."""
    code, out, err, written, left = result
    lines = [line for line in err.split(b"\n") if line.startswith(b"bdml: ")]
    if code < 0 or code > 3:
        return "ended by %d: %s" % (code, err[-200:])
    if code == reference[0]:
        if not same(command, reference, out, written):
            return "exit %d, but not the same result: %s" % (code, err[-200:])
    elif code not in (1, 2):
        return "exit %d" % code
    elif not any(len(line) > 12 for line in lines):
        return "exit %d, no line says why: %s" % (code, err[-200:])
    elif command[2] and written != OLD and not same(command, reference, reference[1], written):
        return "exit %d, and the file is neither the old one nor the new: %s" % (code, err[-200:])
    if left:
        return "left behind: %s" % left
    if blocks and blocks[1] is not None and blocks[1] > blocks[0]:
        return "%d blocks not given back, %d without the fault" % (blocks[1], blocks[0])
    return None


def fail_alloc(command, reference, usual, n):
    log = os.path.join(folder.path, "alloc.log")
    result = started(command, LD_PRELOAD=PRELOAD, FAIL_ALLOC=str(n), FAIL_ALLOC_LOG=log)
    at_end = counts(log)
    if at_end and at_end[2]:
        return SPARED
    return judge(command, reference, "alloc", result, (usual, at_end[1] if at_end else None))


def fail_call(command, reference, call, n):
    prefix = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=" + call, "-e",
              "inject=%s:error=%s:when=%d" % (call, SYSTEM[call], n)]
    return judge(command, reference, call, started(command, prefix), None)


def own_calls(command, call):
    """Which calls of this name are about files of the command, or its standard output."""
    log = os.path.join(folder.path, "calls.log")
    started(command, ["strace", "-f", "-qq", "-y", "-o", log, "-e", "trace=" + call])
    with open(log, errors="replace") as f:
        lines = [line for line in f if call + "(" in line]
    mine = [i + 1 for i, line in enumerate(lines)
            if folder.path in line or "AT_FDCWD" in line and '"/' not in line or re.search(r"write\(1<", line)
            or call == "rename"]
    return mine


def have_strace():
    try:
        return subprocess.run(["strace", "-qq", "-o", "/dev/null", "true"], stderr=subprocess.DEVNULL).returncode == 0
    except OSError:
        return False


def plan(command):
    """The reference, and the faults there can be: (kind, n)."""
    reference = started(command)
    if reference[0] not in (0, 3):
        sys.exit("%s: exit %d without a fault: %s" % (command[0], reference[0], reference[2]))
    log = os.path.join(folder.path, "alloc.log")
    started(command, LD_PRELOAD=PRELOAD, FAIL_ALLOC_LOG=log)
    total, usual, _ = counts(log)
    faults = [("allocation", n) for n in range(1, total + 1)]
    if strace:
        for call in SYSTEM:
            faults += [(call, n) for n in own_calls(command, call)]
    return command, reference, usual, faults


def try_fault(job):
    command, reference, usual, kind, n = job
    try:
        wrong = (fail_alloc(command, reference, usual, n) if kind == "allocation"
                 else fail_call(command, reference, kind, n))
    except subprocess.TimeoutExpired:
        wrong = "did not end in 120 seconds"
    if wrong == SPARED:
        return "allocation by OpenBLAS or libgomp, which do not survive it and were spared", None
    return kind, wrong and "%s, %s %d: %s" % (command[0], kind, n, wrong)


def sampled(plans):
    """Everything once, or RUNS faults: of every command and kind alike, the first ones and a spread of the others."""
    r = random.Random(1)
    jobs = []
    groups = [(p, kind, [n for k, n in p[3] if k == kind]) for p in plans for kind in ["allocation"] + list(SYSTEM)]
    groups = [g for g in groups if g[2]]
    share = max(1, RUNS // max(1, len(groups)))
    for p, kind, ns in groups:
        want = len(ns) if WHOLE else 3 * share if kind == "allocation" else share
        for n in ns if want >= len(ns) else r.sample(ns, want):
            jobs.append((p[0], p[1], p[2], kind, n))
    return jobs


base = tempfile.mkdtemp(prefix="bdml-faults-")
atexit.register(shutil.rmtree, base)
os.chdir(base)
small_data()
folder = Folder()
strace = have_strace()
if not strace:
    print("left out: faults in system calls, strace does not work here")
chosen = [c for c in COMMANDS if not ONLY or any(w in c[0] for w in ONLY)]
plans = [plan(c) for c in chosen]
jobs = sampled(plans)
possible = sum(len(p[3]) for p in plans)
tried, failed = {}, []
with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
    for kind, wrong in pool.map(try_fault, jobs):
        tried[kind] = tried.get(kind, 0) + 1
        if wrong:
            failed.append(wrong)
            print("FAILED:", wrong, flush=True)
print("%d commands, %d faults possible, %d tried: %s" % (
    len(chosen), possible, len(jobs), ", ".join("%d of %s" % (v, k) for k, v in sorted(tried.items()))))
print("cases: %d passed, %d failed" % (len(jobs) - len(failed), len(failed)))
sys.exit(bool(failed))
