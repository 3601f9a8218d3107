"""Every learner from labels on points whose two noisy features are the widest; then regression, then pairs made by hand."""
import metric_learn

from itertools import combinations

import numpy as np
from sklearn.datasets import make_classification, make_regression

rng = np.random.RandomState(3)
X, y = make_classification(
    n_samples=90, n_classes=3, n_clusters_per_class=2, n_informative=3, n_redundant=0, n_features=5, class_sep=4.0,
    scale=[1, 1, 20, 20, 20], random_state=3,
)
learners = [
    metric_learn.LMNN(n_neighbors=5, learn_rate=1e-6),
    metric_learn.ITML_Supervised(),
    metric_learn.MMC_Supervised(),
    metric_learn.SDML_Supervised(sparsity_param=0.1, balance_param=0.0015, prior="covariance"),
    metric_learn.LSML_Supervised(tol=0.0001, max_iter=10000, prior="covariance"),
    metric_learn.NCA(max_iter=1000),
    metric_learn.LFDA(k=2, n_components=2),
    metric_learn.RCA_Supervised(n_chunks=20, chunk_size=2),
    metric_learn.SCML_Supervised(random_state=0),
    metric_learn.Covariance(),
]
for learner in learners:
    Z = learner.fit_transform(X, y)
    assert len(Z) == 90 and np.isfinite(Z).all(), learner
    L, M = learner.components_, learner.get_mahalanobis_matrix()
    assert L.shape[1] == 5 and np.allclose(L.T @ L, M, rtol=1e-6, atol=1e-6 * np.abs(M).max())
    assert np.allclose(np.linalg.norm(Z[0] - Z[1]), learner.get_metric()(X[0], X[1]))

X_number, number = make_regression(n_samples=100, n_informative=3, n_features=5, random_state=3)
assert metric_learn.MLKR().fit_transform(X_number, number).shape == (100, 5)

same = [pair for c in range(3) for pair in combinations(np.flatnonzero(y == c), 2)]
other = [(i, j) for i in range(90) for j in range(i) if y[i] != y[j]]
other = [other[k] for k in rng.choice(len(other), len(same), replace=False)]
pairs, answers = np.array(same + other), np.concatenate([np.ones(len(same)), -np.ones(len(same))])
itml = metric_learn.ITML(preprocessor=X)
itml.fit(pairs, answers)
assert itml.transform(X).shape == (90, 5)
