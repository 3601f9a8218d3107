"""Learners from pairs: fit, transform, distances, thresholds, scores, cross-validation."""
from metric_learn import ITML, MMC, SDML

import numpy as np
from sklearn.datasets import load_iris
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_score

# what is near in the first value belongs together, however far it is in the second
pairs = [[[1.0, 8.0], [1.2, 2.0]], [[6.0, 3.0], [6.3, 9.0]], [[1.0, 4.0], [3.5, 4.2]], [[6.5, 5.0], [5.0, 5.1]]]
y = [1, 1, -1, -1]
for learner in (ITML(), SDML(), MMC(), MMC(diagonal=True), MMC(init="identity", tol=1e-3, max_proj=1000)):
    assert learner.fit(pairs, y) is learner
    assert learner.pair_distance(pairs).shape == (4,)

mmc = MMC(random_state=42).fit(np.array(pairs), np.array(y))
M = mmc.get_mahalanobis_matrix()
assert M[0, 0] > M[1, 1]
distances = mmc.pair_distance(pairs)
assert np.allclose(mmc.pair_score(pairs), -distances) and np.allclose(mmc.decision_function(pairs), -distances)
metric = mmc.get_metric()
assert np.isclose(metric([1.0, 8.0], [1.2, 2.0]), distances[0])
assert mmc.transform([[9.4, 4.1], [2.1, 4.4]]).shape[0] == 2
assert set(mmc.predict(pairs)) <= {-1, 1} and mmc.score(pairs, y) == roc_auc_score(y, mmc.decision_function(pairs))
mmc.calibrate_threshold(pairs, y)
mmc.calibrate_threshold(pairs, y, strategy="max_tpr", min_rate=0.5)
assert mmc.set_threshold(0.4).threshold_ == 0.4
itml = ITML(gamma=2.0, max_iter=500)
itml.fit(pairs, y, bounds=[0.5, 4.0], calibration_params={"strategy": "f_beta", "beta": 1.0})
assert np.isfinite(itml.threshold_)

X, kind = load_iris(return_X_y=True)
rng = np.random.RandomState(42)
indices = rng.randint(len(X), size=(60, 2))
indices = indices[indices[:, 0] != indices[:, 1]]
same = 2 * (kind[indices[:, 0]] == kind[indices[:, 1]]) - 1
assert cross_val_score(MMC(preprocessor=X), indices, same, cv=3).mean() > 0.6
assert cross_val_score(ITML(preprocessor=X), indices, same, cv=3, scoring="accuracy").mean() > 0.6
assert cross_val_score(ITML(preprocessor=X), indices, same, cv=3, scoring="average_precision").mean() > 0.4
