"""Two fits in two threads of Python beside one: how much longer the two take, by the clock, on a machine with two free cores.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python3 bench_threads.py [REPEATS]

Each figure is the least of the repeats, one and two taking turns.
"""

import sys
import threading
import time
import warnings

from sklearn.datasets import make_classification

import bdml

warnings.simplefilter("ignore")
REPEATS = int(sys.argv[1]) if len(sys.argv) > 1 else 7
X, y = make_classification(2000, 30, n_informative=10, n_classes=4, random_state=0)
METRICS = {
    "BDML": lambda: bdml.BDML(threads=1),
    "BDML, K = 10": lambda: bdml.BDML(distortion=10.0, threads=1),
    "NCA": lambda: bdml.NCA(threads=1),
    "LMNN": lambda: bdml.LMNN(threads=1),
}


def seconds(make, count):
    threads = [threading.Thread(target=lambda: make().fit(X, y)) for _ in range(count)]
    began = time.perf_counter()
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return time.perf_counter() - began


print(f"{'metric':14s}  {'one':>7s}  {'two':>7s}  {'ratio':>5s}")
for name, make in METRICS.items():
    make().fit(X, y)
    taken = [(seconds(make, 1), seconds(make, 2)) for _ in range(REPEATS)]
    one, two = (min(column) for column in zip(*taken))
    print(f"{name:14s}  {one:5.2f} s  {two:5.2f} s  {two / one:5.2f}", flush=True)
