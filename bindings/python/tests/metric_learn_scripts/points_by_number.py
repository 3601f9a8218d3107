"""Points by number or by name, through a preprocessor."""
from metric_learn import MMC, NCA

import numpy as np

X = np.array([[-0.7, -0.2], [-0.4, -0.5], [0.1, -0.4], [0.3, 0.9]])
nca = NCA(preprocessor=X)
nca.fit(np.array([2, 0, 1, 0, 3]), np.array([1, 0, 1, 1, 0]))
assert np.allclose(nca.transform(np.array([1, 2])), nca.transform(X[1:3]))
assert np.allclose(nca.pair_distance([[0, 1]]), nca.pair_distance([[X[0], X[1]]]))

mmc = MMC(preprocessor=X.tolist())
mmc.fit([[2, 0], [1, 0], [1, 3]], [1, -1, -1])
assert set(mmc.predict([[2, 0], [1, 3]])) <= {-1, 1}

files = {"a.png": X[0], "b.png": X[1], "c.png": X[2], "d.png": X[3]}


def load(names):
    return np.vstack([files[name] for name in names])


NCA(preprocessor=load).fit(["a.png", "b.png", "c.png", "d.png"], [1, 0, 1, 0])
by_name = MMC(preprocessor=load).fit([["c.png", "a.png"], ["b.png", "a.png"], ["b.png", "d.png"]], [1, -1, -1])
assert np.allclose(by_name.get_mahalanobis_matrix(), mmc.get_mahalanobis_matrix())


def never(numbers):
    raise NotImplementedError


# points that are given as such are not sent through it
MMC(preprocessor=never).fit(X[[[2, 0], [1, 0], [1, 3]]], [1, -1, -1])
NCA(preprocessor=never).fit(X, [1, 0, 1, 0])
