"""What users of metric-learn write, with the import line changed.

metric_learn_scripts/ are scripts for metric-learn 0.7 after the examples of its documentation. Here they run on bdml.
"""

import re
import runpy
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_wine, make_classification
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import bdml
from bdml import ITML, LMNN, NCA, ITML_Supervised, LSML_Supervised, MMC_Supervised, RCA_Supervised, SDML_Supervised

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

SCRIPTS = sorted(Path(__file__).with_name("metric_learn_scripts").glob("*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda p: p.stem)
def test_scripts_run_with_another_import_line(script, tmp_path):
    text = script.read_text()
    lines = re.findall(r"^(?:from|import) metric_learn\b.*$", text, flags=re.M)
    assert len(lines) == 1
    imported = lines[0].replace("metric_learn", "bdml", 1) if lines[0].startswith("from") else "import bdml as metric_learn"
    (tmp_path / script.name).write_text(text.replace(lines[0], imported))
    runpy.run_path(str(tmp_path / script.name), run_name="__main__")


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


def test_constraints_drawn_from_labels(iris):
    X, y = iris
    partial = np.where(np.arange(150) % 5 == 0, -1, y)
    made = bdml.Constraints(partial)
    a, b, c, d = made.positive_negative_pairs(500, random_state=0)
    assert len(a) == len(c) == 500
    assert (partial[np.concatenate([a, b, c, d])] >= 0).all() and (y[a] == y[b]).all() and (y[c] != y[d]).all()
    for i, j in ((a, b), (c, d)):
        assert len({frozenset(p) for p in zip(i.tolist(), j.tolist())}) == 500  # each once
    again = made.positive_negative_pairs(500, random_state=0)
    assert all(np.array_equal(u, v) for u, v in zip((a, b, c, d), again))
    with pytest.warns(UserWarning, match="there are 2 positive pairs, 7 were asked for"):
        a, b, c, d = bdml.Constraints([0, 0, 1, 1, 2]).positive_negative_pairs(7, same_length=True, random_state=0)
    assert len(a) == len(c) == 2
    chunks = made.chunks(30, 3, random_state=0)
    assert (np.bincount(chunks[chunks >= 0]) == 3).all() and chunks.max() == 29 and (partial[chunks >= 0] >= 0).all()
    assert all(len(np.unique(y[chunks == k])) == 1 for k in range(30))
    with pytest.raises(ValueError, match="39 at most"):
        made.chunks(100, 3)
    with pytest.raises(ValueError, match="whole numbers"):
        bdml.Constraints(["a", "b"])


def test_triplets_of_neighbours(iris):
    X, y = iris
    partial = np.where(np.arange(150) % 5 == 0, -1, y)
    triplets = bdml.Constraints(partial).generate_knntriplets(X, 2, 3)
    assert triplets.shape == (120 * 6, 3) and (partial[triplets] >= 0).all()
    assert (y[triplets[:, 0]] == y[triplets[:, 1]]).all() and (y[triplets[:, 0]] != y[triplets[:, 2]]).all()
    assert (triplets[:, 0] != triplets[:, 1]).all()
    distance = np.linalg.norm(X[:, None] - X[None], axis=2)
    for i in np.flatnonzero(partial >= 0)[::17]:
        mine = triplets[triplets[:, 0] == i]
        for column, of, k in ((1, (partial == y[i]) & (np.arange(150) != i), 2), (2, (partial >= 0) & (partial != y[i]), 3)):
            got = np.sort(distance[i, np.unique(mine[:, column])])
            np.testing.assert_allclose(got, np.sort(distance[i, of])[:k])
    with pytest.warns(UserWarning, match="points of label 0 have 1 of other labels, 3 were asked for"):
        few = bdml.Constraints([0, 0, 0, 1]).generate_knntriplets(X[:4], 1, 3)
    assert few.shape == (3, 3)


def test_chunks_leave_points_out(iris):
    X, y = iris
    chunks = np.where(np.arange(150) % 4 == 0, -1, y)
    some = bdml.RCA(n_components=2).fit(X, chunks=chunks)
    alone = bdml.RCA_Supervised(n_components=2).fit(X[chunks >= 0], y[chunks >= 0])
    assert np.array_equal(some.components_, alone.components_) and some.components_.shape == (2, 4)
    # Fisher's directions, whitened by the scatter inside the classes
    within = sum(np.cov(X[chunks == k].T, bias=True) * np.sum(chunks == k) for k in range(3)) / np.sum(chunks >= 0)
    L = some.components_
    np.testing.assert_allclose(L @ within @ L.T, np.eye(2), atol=1e-4)


def test_bounds(pairs, iris):
    index, same = pairs
    given = ITML(preprocessor=iris[0], itml_near=1.0, itml_far=4.0).fit(index, same)
    theirs = ITML(preprocessor=iris[0]).fit(index, same, bounds=[1.0, 4.0])
    assert np.array_equal(given.components_, theirs.components_)
    assert not np.array_equal(given.components_, ITML(preprocessor=iris[0]).fit(index, same).components_)
    labelled = ITML_Supervised().fit(*iris, bounds=(1.0, 4.0))
    assert np.array_equal(labelled.components_, ITML_Supervised(itml_near=1.0, itml_far=4.0).fit(*iris).components_)
    with pytest.raises(ValueError, match="two numbers"):
        ITML(preprocessor=iris[0]).fit(index, same, bounds=[1.0])
    with pytest.raises(ValueError, match="two names"):
        ITML(preprocessor=iris[0], itml_far=2.0).fit(index, same, bounds=[1.0, 4.0])
    with pytest.raises(ValueError, match="itml-near must be"):
        ITML(preprocessor=iris[0]).fit(index, same, bounds=[-1.0, 4.0])


def test_what_is_not_to_be_had_is_refused(iris):
    with pytest.raises(ValueError, match="embedding_type is 'weighted'"):
        bdml.LFDA(embedding_type="plain").fit(*iris)
    with pytest.raises(ValueError, match="prior"):
        ITML_Supervised(prior="random").fit(*iris)
    with pytest.raises(ValueError, match="whole numbers"):
        NCA(preprocessor=iris[0]).fit(["a", "b"], [0, 1])
