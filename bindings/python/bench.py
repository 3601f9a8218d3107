"""One run, one table: BDML, NCA and LMNN beside scikit-learn's NeighborhoodComponentsAnalysis.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python3 bench.py [SEGMENT.CSV]

Seconds of processor time of a fit, as a ratio to scikit-learn's in the same run, and 3-NN error on 30 % of the rows, by the same split of
z-scored points. Rows: Wine, Segment (data/segment.csv of the project), digits, 5000 x 50.
"""

import sys
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits, load_wine, make_classification
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier, NeighborhoodComponentsAnalysis
from sklearn.preprocessing import StandardScaler

import bdml

warnings.simplefilter("ignore")


def segment():
    path = sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2] / "data" / "segment.csv"
    table = np.genfromtxt(path, delimiter=",", dtype=str, skip_header=1)
    return table[:, :-1].astype(float), np.unique(table[:, -1], return_inverse=True)[1]


DATA = {
    "wine": lambda: load_wine(return_X_y=True),
    "segment": segment,
    "digits": lambda: load_digits(return_X_y=True),
    "5000 x 50": lambda: make_classification(5000, 50, n_informative=10, n_classes=5, random_state=0),
}
METRICS = {
    "scikit-learn NCA": lambda: NeighborhoodComponentsAnalysis(random_state=0),
    "NCA": bdml.NCA,
    "LMNN": bdml.LMNN,
    "BDML": bdml.BDML,
    "BDML, K = 10": lambda: bdml.BDML(distortion=10.0, reference="within"),
}

for make in METRICS.values():  # what is done once, at the first fit
    make().fit(*load_wine(return_X_y=True))
print(f"{'data':10s}  {'metric':17s}  {'seconds':>8s}  {'ratio':>6s}  {'3-NN error':>10s}")
for data, load in DATA.items():
    X, y = load()
    train, test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
    scaler = StandardScaler().fit(train)
    train, test = scaler.transform(train), scaler.transform(test)
    theirs = None
    for name, make in METRICS.items():
        began = time.process_time()
        metric = make().fit(train, y_train)
        seconds = time.process_time() - began
        theirs = theirs or seconds
        knn = KNeighborsClassifier(3).fit(metric.transform(train), y_train)
        error = 100 * (1 - knn.score(metric.transform(test), y_test))
        print(f"{data:10s}  {name:17s}  {seconds:8.2f}  {seconds / theirs:6.3f}  {error:8.2f} %", flush=True)
