"""Thin layers, one class each: the plain neighbours are those along other layers."""
from metric_learn import LMNN, ITML_Supervised, LSML_Supervised, SDML_Supervised

import numpy as np
from sklearn.neighbors import NearestNeighbors

rng = np.random.RandomState(0)
x = np.array([[k + 0.1 * rng.randn(), 0.7 * layer + 0.1 * rng.randn()] for layer in range(6) for k in range(9)])
y = np.repeat(np.arange(6), 9)


def right(points):
    """Share of points whose nearest other point is of their layer."""
    nearest = NearestNeighbors(n_neighbors=2).fit(points).kneighbors(points, return_distance=False)[:, 1]
    return np.mean(y[nearest] == y)


plain = right(x)
for learner in (
    LMNN(), ITML_Supervised(n_constraints=200), SDML_Supervised(n_constraints=200, balance_param=0.001),
    LSML_Supervised(n_constraints=200),
):
    learner.fit(x, y)
    print(f"{type(learner).__name__:16s} {plain:.2f} -> {right(learner.transform(x)):.2f}")
assert right(LMNN().fit_transform(x, y)) > plain
