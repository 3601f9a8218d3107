"""Which pairs of digits show the same number? Learned from pairs alone, tested on people's other digits."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import numpy as np
from sklearn.datasets import load_digits

import bdml
from bdml.plots import plot_roc

X, y = load_digits(return_X_y=True)


def pairs_of(rows, count, seed):
    """As many pairs of either kind."""
    rng = np.random.RandomState(seed)
    pairs = rng.choice(rows, size=(20 * count, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    chosen = np.concatenate([np.flatnonzero(same)[:count], np.flatnonzero(~same)[:count]])
    return pairs[chosen], np.where(same[chosen], 1, -1)


train, same_train = pairs_of(np.arange(900), 1000, 0)
test, same_test = pairs_of(np.arange(900, len(X)), 1000, 1)
ax = None
for metric in (
    bdml.Euclidean_Pairs(preprocessor=X),
    bdml.KISSME_Pairs(preprocessor=X, pca=0.95),
    bdml.ITML(preprocessor=X, pca=0.95),
    bdml.BDML_Pairs(preprocessor=X, pca=0.95),
):
    metric.fit(train, same_train)
    accuracy = np.mean(metric.predict(test) == same_test)
    print(f"{type(metric).__name__:15s} area {metric.score(test, same_test):.3f}  accuracy {accuracy:.3f}")
    ax = plot_roc(metric, test, same_test, ax)
ax.figure.savefig(Path(__file__).with_suffix(".png"), dpi=120)
