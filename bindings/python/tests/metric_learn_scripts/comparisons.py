"""Triplets, quadruplets and chunks."""
from metric_learn import LSML, RCA, SCML

import numpy as np

triplets = [
    [[1.0, 8.0], [1.2, 2.0], [6.0, 9.0]],
    [[1.5, 4.0], [3.0, 4.5], [5.5, 5.5]],
    [[3.0, 7.5], [3.3, 1.5], [8.5, 9.5]],
    [[3.0, 5.5], [5.0, 5.5], [9.5, 4.0]],
]
scml = SCML(random_state=42)
scml.fit(triplets)
assert scml.predict(triplets).shape == (4,) and 0 <= scml.score(triplets) <= 1
assert scml.decision_function(np.array(triplets)).shape == (4,)

quadruplets = [
    [[1.0, 8.0], [1.2, 2.0], [6.0, 3.0], [6.3, 9.0]],
    [[1.0, 4.0], [3.0, 4.5], [6.0, 5.5], [5.0, 5.1]],
    [[3.0, 5.5], [5.0, 5.5], [1.0, 4.0], [3.0, 9.5]],
    [[3.0, 5.5], [5.0, 5.5], [1.3, 4.0], [3.0, 9.7]],
]
lsml = LSML(random_state=42)
lsml.fit(quadruplets)
assert lsml.predict(quadruplets).shape == (4,) and 0 <= lsml.score(quadruplets) <= 1
assert LSML(prior="covariance").fit(quadruplets, weights=np.array([1.0, 2.0, 1.0, 1.0])).components_.shape == (2, 2)

X = [[-0.1, 3.0], [0.2, 1.0], [2.0, 0.1], [2.1, 3.5], [4.0, 0.3], [4.2, 3.0], [5.9, 1.0], [6.1, 2.5], [9.0, 9.0]]
chunks = [0, 0, 1, 1, 2, 2, 3, 3, -1]  # the last point is in none
rca = RCA()
rca.fit(X, chunks)
assert np.allclose(rca.get_mahalanobis_matrix(), RCA().fit(X[:8], chunks[:8]).get_mahalanobis_matrix())
assert RCA(n_components=1).fit(X, chunks).transform(X).shape == (9, 1)
