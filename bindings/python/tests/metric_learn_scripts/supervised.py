"""What can be asked of a learner from labels; arguments of each; constraints drawn from labels."""
from metric_learn import LFDA, LMNN, MLKR, NCA, Constraints, Covariance, ITML, ITML_Supervised, MMC_Supervised, SDML_Supervised

import numpy as np
from sklearn.datasets import load_iris

X = np.array([[2.0, 3.5], [0.5, 0.2], [6.5, 2.0], [1.0, 0.4]])
nca = NCA(random_state=42)
nca.fit(X, np.array(["dog", "cat", "dog", "cat"]))
pairs = [[[3.5, 3.6], [5.6, 2.4]], [[1.2, 4.2], [2.1, 6.4]]]
distance = nca.pair_distance(pairs)
assert np.allclose(nca.pair_score(pairs), -distance)
assert np.isclose(nca.get_metric()([3.5, 3.6], [5.6, 2.4]), distance[0])
assert nca.transform([[9.4, 4.1], [2.1, 4.4]]).shape == (2, 2) and nca.get_mahalanobis_matrix().shape == (2, 2)

X, y = load_iris(return_X_y=True)
for learner in (
    LMNN(n_neighbors=5, learn_rate=1e-6, verbose=False),
    NCA(max_iter=200, init="pca", n_components=2, tol=1e-4),
    LFDA(k=2, n_components=2, embedding_type="weighted"),
    MLKR(max_iter=20),
    MMC_Supervised(n_constraints=200),
    ITML_Supervised(n_constraints=200, gamma=1.0, tol=1e-3, prior="identity"),
    SDML_Supervised(n_constraints=200, sparsity_param=0.01, balance_param=0.001),
):
    learner.fit(X, y)
    assert learner.transform(X).shape[0] == 150 and learner.n_features_in_ == 4
assert Covariance().fit(X).transform(X).shape == (150, 4)

a, b, c, d = Constraints(y).positive_negative_pairs(100, same_length=True, random_state=1)
assert (y[a] == y[b]).all() and (y[c] != y[d]).all()
itml = ITML(preprocessor=X).fit(
    np.vstack([np.column_stack([a, b]), np.column_stack([c, d])]), np.concatenate([np.ones(len(a)), -np.ones(len(c))])
)
assert itml.components_.shape == (4, 4)
assert Constraints(y).generate_knntriplets(X, 2, 3).shape == (900, 3)
assert np.sum(Constraints(y).chunks(20, 3, random_state=0) >= 0) == 60
