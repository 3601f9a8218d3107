"""A contestant of the neighbour benchmark: scikit-learn's NearestNeighbors(algorithm='brute'), double.

neighbors_sklearn.py DATA N D K THREADS: DATA holds N*D doubles. For every line on standard input,
search all points for their K nearest and answer the seconds it took. The thread count comes with
the environment (OMP_NUM_THREADS, OPENBLAS_NUM_THREADS), which is read when the libraries load.
"""
import sys
import time

import numpy as np
from sklearn.neighbors import NearestNeighbors

path, n, d, k = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
x = np.fromfile(path).reshape(n, d)
for _ in sys.stdin:
    start = time.perf_counter()
    NearestNeighbors(n_neighbors=k, algorithm="brute").fit(x).kneighbors(x)
    print("%.6f" % (time.perf_counter() - start), flush=True)
