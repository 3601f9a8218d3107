"""What users of metric-learn write, with the import line changed: its tour of weak and full supervision."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_wine, make_classification
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from bdml import ITML, LMNN, LSML, MMC, NCA, ITML_Supervised, LSML_Supervised, MMC_Supervised, RCA_Supervised, SDML_Supervised

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def test_neighbours_after_a_transform(iris):
    knn = make_pipeline(LMNN(), KNeighborsClassifier())
    assert cross_val_score(knn, *iris).mean() > 0.9


def test_a_metric_before_and_after():
    X, y = make_classification(
        n_samples=100, n_classes=3, n_clusters_per_class=2, n_informative=3, class_sep=4.0, n_features=5, n_redundant=0, shuffle=True,
        scale=[1, 1, 20, 20, 20], random_state=42,
    )  # fmt: skip
    before = cross_val_score(KNeighborsClassifier(3), X, y).mean()
    metrics = [
        LMNN(n_neighbors=5, learn_rate=1e-6),
        ITML_Supervised(n_constraints=500),
        NCA(max_iter=100, n_components=2),
        MMC_Supervised(),
        LSML_Supervised(tol=0.0001, max_iter=10000, n_constraints=200, random_state=42),
        RCA_Supervised(n_chunks=30, chunk_size=2),
    ]
    for metric in metrics:
        Z = metric.fit_transform(X, y)
        assert Z.shape[0] == 100
        np.testing.assert_allclose(Z - Z[0], (X - X[0]) @ metric.components_.T, atol=1e-8 * np.abs(Z).max())
    after = cross_val_score(make_pipeline(LMNN(scale="zscore"), KNeighborsClassifier(3)), X, y).mean()
    assert after >= before - 0.05


@pytest.mark.parametrize("load", [load_wine, load_digits])
def test_sparse_metrics_where_the_lasso_of_others_fails(load):
    X, y = load(return_X_y=True)
    sdml = SDML_Supervised(sparsity_param=0.05, random_state=1).fit(X[:500], y[:500])
    M = sdml.get_mahalanobis_matrix()
    assert np.linalg.eigvalsh(M)[0] > 1e-6
    assert np.mean(np.abs(M) < 1e-12 * np.abs(M).max()) > 0.1


def test_pairs_from_a_tour():
    pairs = np.array(
        [
            [[1.2, 7.5], [1.3, 1.5]],
            [[6.4, 2.6], [6.2, 9.7]],
            [[1.3, 4.5], [3.2, 4.6]],
            [[6.2, 5.5], [5.4, 5.4]],
        ]
    )
    y = np.array([1, 1, -1, -1])
    mmc = MMC(random_state=42)
    assert mmc.fit(pairs, y) is mmc
    assert mmc.pair_distance(pairs).shape == (4,)
    assert set(mmc.predict(pairs)) <= {-1, 1}
    assert 0 <= mmc.score(pairs, y) <= 1
    near = mmc.get_metric()(pairs[0, 0], pairs[0, 1])
    assert near == pytest.approx(mmc.pair_distance(pairs)[0])
    M = mmc.get_mahalanobis_matrix()
    np.testing.assert_allclose(M, M.T)
    assert mmc.transform(pairs[:, 0]).shape[0] == 4


def test_quadruplets_from_a_tour():
    quadruplets = np.array(
        [
            [[1.2, 7.5], [1.3, 1.5], [6.4, 2.6], [6.2, 9.7]],
            [[1.3, 4.5], [3.2, 4.6], [6.2, 5.5], [5.4, 5.4]],
            [[3.2, 5.5], [5.4, 5.4], [1.3, 4.5], [3.2, 9.6]],
            [[6.2, 2.6], [6.2, 9.7], [1.2, 7.5], [1.3, 1.5]],
        ]
    )
    lsml = LSML(random_state=42)
    assert lsml.fit(quadruplets) is lsml
    assert lsml.predict(quadruplets).shape == (4,) and 0 <= lsml.score(quadruplets) <= 1
    assert lsml.get_mahalanobis_matrix().shape == (2, 2)
    weighted = LSML(prior="covariance").fit(quadruplets, weights=[1.0, 2.0, 1.0, 1.0])
    assert weighted.components_.shape == (2, 2)


def test_numbers_and_a_preprocessor_in_a_search(iris):
    X, y = iris
    rng = np.random.RandomState(0)
    pairs = rng.randint(150, size=(300, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = np.where(y[pairs[:, 0]] == y[pairs[:, 1]], 1, -1)
    train, test, same_train, same_test = train_test_split(pairs, same, random_state=0, stratify=same)
    search = GridSearchCV(ITML(preprocessor=X), {"gamma": [0.1, 1.0]}, cv=2).fit(train, same_train)
    best = search.best_estimator_
    best.calibrate_threshold(test, same_test, strategy="f_beta", beta=1.0)
    assert np.mean(best.predict(test) == same_test) > 0.8
